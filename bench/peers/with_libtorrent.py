"""Makes a torrent with libtorrent: with_libtorrent.py VERSION PIECE_LENGTH OUTPUT PATH.

The binding always hashes with one thread, because its set_piece_hashes takes no settings. with_libtorrent.cc does the same
with every core.
"""

import os
import sys

import libtorrent as lt

FLAGS = {"v1": lt.create_torrent.v1_only, "v2": lt.create_torrent.v2_only, "hybrid": 0}


def make(version: str, piece_length: int, path: str) -> bytes:
    files = lt.file_storage()
    lt.add_files(files, path)
    torrent = lt.create_torrent(files, piece_length, FLAGS[version])
    lt.set_piece_hashes(torrent, os.path.dirname(path))
    return lt.bencode(torrent.generate())


def main(version: str, piece_length: str, output: str, path: str) -> None:
    with open(output, "wb") as file:
        file.write(make(version, int(piece_length), path))


if __name__ == "__main__":
    main(*sys.argv[1:])
