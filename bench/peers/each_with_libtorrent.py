"""Makes a torrent of each file of a folder with libtorrent and prints the time, like bench/processes/each.ts.

Call it as each_with_libtorrent.py TASK, with the task as JSON. The binding does not hash memory, and takes the caller's
hashes for v1 only.
"""

import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import libtorrent as lt
from with_libtorrent import FLAGS, make


def make_from_memory(piece_length: int, name: str, data: memoryview) -> bytes:
    files = lt.file_storage()
    files.add_file(name, len(data))
    torrent = lt.create_torrent(files, piece_length, FLAGS["v1"])
    for piece in range(torrent.num_pieces()):
        start = piece * piece_length
        torrent.set_hash(piece, hashlib.sha1(data[start : start + piece_length]).digest())
    return lt.bencode(torrent.generate())


def main(task: dict) -> None:
    version, piece_length = task["version"], task["pieceLength"]
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(task["content"]) for name in names)
    loaded = []
    if task["fromMemory"]:
        for path in paths[:1024]:
            with open(path, "rb") as file:
                loaded.append(memoryview(file.read()))

    def work(index: int) -> bytes:
        if not loaded:
            return make(version, piece_length, paths[index])
        return make_from_memory(piece_length, os.path.basename(paths[index]), loaded[index % len(loaded)])

    started = time.perf_counter()
    if task["atOnce"] == 1:
        made = [work(index) for index in range(len(paths))]
    else:
        with ThreadPoolExecutor(task["atOnce"]) as pool:
            made = list(pool.map(work, range(len(paths))))
    seconds = time.perf_counter() - started

    hashes = lt.torrent_info(lt.bdecode(made[0])).info_hashes()
    infohash = hashes.v2 if hashes.has_v2() else hashes.v1
    print(json.dumps({"seconds": seconds, "infohash": str(infohash)}))


main(json.loads(sys.argv[1]))
