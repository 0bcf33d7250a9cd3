"""Makes torrents with libtorrent: with_libtorrent.py VERSION PIECE_LENGTH OUTPUT PATH, or the task of bench/small.ts as JSON.
with_libtorrent.py each VERSION PIECE_LENGTH OUTPUT PATH makes one of each entry of a folder, into another folder.

The binding always hashes with one thread, because its set_piece_hashes takes no settings. with_libtorrent.cc does the same
with every core. It does not hash memory, and takes the caller's hashes for v1 only.
"""

import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import libtorrent as lt

FLAGS = {"v1": lt.create_torrent.v1_only, "v2": lt.create_torrent.v2_only, "hybrid": 0}


def make(version: str, piece_length: int, path: str, by_name: bool = False) -> bytes:
    """With `by_name`, a folder without folders; add_files keeps the order of the file system in v1."""
    files = lt.file_storage()
    if by_name:
        for name in sorted(os.listdir(path)):
            files.add_file(os.path.join(os.path.basename(path), name), os.path.getsize(os.path.join(path, name)))
    else:
        lt.add_files(files, path)
    torrent = lt.create_torrent(files, piece_length, FLAGS[version])
    lt.set_piece_hashes(torrent, os.path.dirname(path))
    return lt.bencode(torrent.generate())


def make_from_memory(piece_length: int, name: str, data: memoryview) -> bytes:
    files = lt.file_storage()
    files.add_file(name, len(data))
    torrent = lt.create_torrent(files, piece_length, FLAGS["v1"])
    for piece in range(torrent.num_pieces()):
        start = piece * piece_length
        torrent.set_hash(piece, hashlib.sha1(data[start : start + piece_length]).digest())
    return lt.bencode(torrent.generate())


def make_each(task: dict) -> dict:
    version, piece_length = task["version"], task["pieceLength"]
    content = task["content"]
    if task["from"] == "folders":
        paths = sorted(os.path.join(content, name) for name in os.listdir(content))
    else:
        paths = sorted(os.path.join(at, name) for at, _, names in os.walk(content) for name in names)
    loaded = []
    if task["from"] == "memory":
        for path in paths[:1024]:
            with open(path, "rb") as file:
                loaded.append(memoryview(file.read()))

    def work(index: int) -> bytes:
        if not loaded:
            return make(version, piece_length, paths[index], task["from"] == "folders")
        return make_from_memory(piece_length, os.path.basename(paths[index]), loaded[index % len(loaded)])

    started = time.perf_counter()
    with ThreadPoolExecutor(task["atOnce"]) as pool:
        made = list((map if task["atOnce"] == 1 else pool.map)(work, range(len(paths))))
    seconds = time.perf_counter() - started

    hashes = lt.torrent_info(lt.bdecode(made[0])).info_hashes()
    return {"seconds": seconds, "infohash": str(hashes.v2 if hashes.has_v2() else hashes.v1)}


match sys.argv[1:]:
    case ["each", version, piece_length, output, folder]:
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(output, f"{name}.torrent"), "wb") as file:
                file.write(make(version, int(piece_length), os.path.join(folder, name)))
    case [version, piece_length, output, path]:
        with open(output, "wb") as file:
            file.write(make(version, int(piece_length), path))
    case [task]:
        print(json.dumps(make_each(json.loads(task))))
    case _:
        print("libtorrent", lt.version)
