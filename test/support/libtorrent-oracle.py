"""Makes and reads torrents with libtorrent. Answers one JSON request per line.

Request: {"root": parent folder, "name": torrent name, "files": [[path from root, size], ...], "pieceLength": n,
          "version": "v1" | "v2" | "hybrid"}
or {"load": path of a torrent file}, or {"hints": path of a torrent file}, or {"magnet": path of a torrent file}, or {"parseMagnet": link}
or {"make": path of the content, "output": path of the torrent file, "pieceLength": n, "version": ..., "flags": [name, ...]},
which makes a torrent of the files that libtorrent finds on disk, or {"pads": [[path, size], ...], "pieceLength": n, "tailPad": bool},
which returns the list of files with pad files, or {"libtorrentVersion": true}, or {"loadAll": path of torrents, each after its length in
four bytes}, which returns {"all": [one answer for each]}, or {"resume": path of resume data}, or {"names": a torrent in hexadecimal}, which returns {"names": [path of each file]}.
Answer: {"v1": hex or null, "v2": hex or null}, more fields for magnet links, or {"error": text}.
"""
import json
import os
import sys

import libtorrent as lt

FLAGS = {"v1": lt.create_torrent.v1_only, "v2": lt.create_torrent.v2_only, "hybrid": 0}


def answer(info):
    hashes = info.info_hashes()
    return {
        "v1": str(hashes.v1) if hashes.has_v1() else None,
        "v2": str(hashes.v2) if hashes.has_v2() else None,
        "files": info.files().num_files(),
        "size": info.total_size(),
    }


def create(request):
    storage = lt.file_storage()
    for path, size in request["files"]:
        storage.add_file(path, size)
    creator = lt.create_torrent(storage, request["pieceLength"], FLAGS[request["version"]])
    lt.set_piece_hashes(creator, request["root"])
    return answer(lt.torrent_info(lt.bencode(creator.generate())))


def make(request):
    flags = FLAGS[request["version"]]
    for name in request["flags"]:
        flags |= getattr(lt.create_torrent, name)
    storage = lt.file_storage()
    lt.add_files(storage, request["make"], flags=flags)
    creator = lt.create_torrent(storage, request["pieceLength"], flags)
    creator.add_tracker("udp://a.example/x")
    lt.set_piece_hashes(creator, os.path.dirname(request["make"]))
    with open(request["output"], "wb") as file:
        file.write(lt.bencode(creator.generate()))
    return answer(lt.torrent_info(request["output"]))


PADDED = {True: lt.create_torrent.canonical_files, False: lt.create_torrent.canonical_files_no_tail_padding}


def pads(request):
    storage = lt.file_storage()
    for path, size in request["pads"]:
        storage.add_file(path, size)
    files = lt.create_torrent(storage, request["pieceLength"], PADDED[request["tailPad"]]).files()
    # Paths begin with the name of the torrent.
    return {"list": [[files.file_path(i), files.file_size(i)] for i in range(files.num_files())]}


def hints(info):
    return {
        "nodes": info.nodes(),
        "similar": [str(one) for one in info.similar_torrents()],
        "collections": info.collections(),
        # Type 0 are webseeds.
        "httpseeds": [seed["url"] for seed in info.web_seeds() if seed["type"] == 1],
        "private": info.priv(),
    }


def magnet(link):
    params = lt.parse_magnet_uri(link)
    hashes = params.info_hashes
    return {
        "v1": str(hashes.v1) if hashes.has_v1() else None,
        "v2": str(hashes.v2) if hashes.has_v2() else None,
        "name": params.name,
        "trackers": params.trackers,
        "webseeds": params.url_seeds,
        "peers": params.peers,
        "priorities": params.file_priorities,
        "link": link,
    }


def content(info):
    files = info.files()
    sizes = [files.file_size(i) for i in range(files.num_files()) if not files.file_flags(i) & lt.file_storage.flag_pad_file]
    return {**answer(info), "content": sum(sizes), "names": len(sizes)}


def load_all(path):
    answers = []
    with open(path, "rb") as file:
        while head := file.read(4):
            torrent = file.read(int.from_bytes(head, "big"))
            try:
                answers.append(content(lt.torrent_info(torrent)))
            except Exception as error:
                answers.append({"error": str(error)})
    return {"all": answers}


def resume(path):
    with open(path, "rb") as file:
        params = lt.read_resume_data(file.read())
    files = params.ti.files() if params.ti else None
    return {
        "v1": str(params.info_hashes.v1) if params.info_hashes.has_v1() else None,
        "v2": str(params.info_hashes.v2) if params.info_hashes.has_v2() else None,
        "save": params.save_path,
        "have": params.have_pieces,
        "trackers": params.trackers,
        "webseeds": params.url_seeds,
        # Null for a pad file.
        "paths": files and [None if files.file_flags(i) & lt.file_storage.flag_pad_file else files.file_path(i)
                            for i in range(files.num_files())],
        "renamed": [[i, name] for i, name in params.renamed_files.items()],
        "seconds": params.added_time,
        "paused": bool(params.flags & lt.torrent_flags.paused),
    }


def work(request):
    if "names" in request:
        files = lt.torrent_info(lt.bdecode(bytes.fromhex(request["names"]))).files()
        return {"names": [files.file_path(i) for i in range(files.num_files())]}
    if "resume" in request:
        return resume(request["resume"])
    if "loadAll" in request:
        return load_all(request["loadAll"])
    if "pads" in request:
        return pads(request)
    if "libtorrentVersion" in request:
        return {"version": lt.__version__}
    if "make" in request:
        return make(request)
    if "load" in request:
        return answer(lt.torrent_info(request["load"]))
    if "hints" in request:
        return hints(lt.torrent_info(request["hints"]))
    if "magnet" in request:
        return magnet(lt.make_magnet_uri(lt.torrent_info(request["magnet"])))
    if "parseMagnet" in request:
        return magnet(request["parseMagnet"])
    return create(request)


for line in sys.stdin:
    request = json.loads(line)
    try:
        result = work(request)
    except Exception as error:  # whatever libtorrent says is the answer
        result = {"error": str(error)}
    print(json.dumps(result), flush=True)
