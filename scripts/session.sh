#!/bin/sh
# `npm run docs:session [-- 1G]`: records the session of docs/session.svg, with a file of that size (default: 8G).
# Needs termtosvg.
set -eu

# The recorded part: prints each command as if it were typed, and leaves time to read.
if [ "${1-}" = play ]; then
  metainfo() {
    printf '\033[32m$\033[0m metainfo %s\n' "$*"
    sleep 1
    node "$METAINFO" "$@"
    sleep 3
    echo
  }
  metainfo create film.mkv --tracker udp://tracker.example:6969/announce
  metainfo show film.mkv.torrent
  metainfo verify film.mkv.torrent film.mkv
  exit
fi

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# A sparse file in the page cache: no wait for a disk, and the same infohashes every time.
truncate -s "${1-8G}" film.mkv
cat film.mkv >/dev/null
export METAINFO="$root/dist/cli/main.cjs"
# termtosvg stops at the end of standard input, and so needs a terminal.
script -qec "stty cols 100 rows 21 && termtosvg '$root/docs/session.svg' --command 'sh $root/scripts/session.sh play' \
  --template window_frame --screen-geometry 100x21 --min-frame-duration 200 --loop-delay 5000" /dev/null
