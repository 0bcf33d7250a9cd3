"""Runs a libtorrent session with one torrent, only on 127.0.0.1. Prints version and port, then answers one JSON request per line.

Requests: {"torrent": path of a torrent file or magnet link, "save": folder}, {"resume": path of resume data},
          {"connect": port of a peer}, {"status": true}, {"log": true}.
Answers: the requested values, {} or {"error": text}.
"""
import collections
import json
import sys
import time

import libtorrent as lt

category = lt.alert.category_t
session = lt.session({
    "listen_interfaces": "127.0.0.1:0",
    "outgoing_interfaces": "127.0.0.1",
    "alert_mask": category.error_notification | category.status_notification | category.storage_notification
    | category.tracker_notification | category.connect_notification | category.peer_notification,
    # Peers are found only as the test arranges it.
    "enable_dht": False,
    "enable_lsd": False,
    "enable_upnp": False,
    "enable_natpmp": False,
    "enable_incoming_utp": False,
    "enable_outgoing_utp": False,
    # All peers have the same address, and no connection should wait.
    "allow_multiple_connections_per_ip": True,
    "connection_speed": 500,
    "tick_interval": 100,
    "min_reconnect_time": 0,
    "max_failcount": 1000,
    "urlseed_wait_retry": 1,
    "stop_tracker_timeout": 0,
})
CHECKING = (lt.torrent_status.checking_resume_data, lt.torrent_status.checking_files)
log = collections.deque(maxlen=200)
handle = None
# Whether a magnet link selects some of the files: then the session never becomes a seed.
selects = False
flushing = flushed = False


def gather():
    global flushed
    for alert in session.pop_alerts():
        flushed = flushed or isinstance(alert, lt.cache_flushed_alert)
        log.append(alert.message())


def params_of(request):
    if "resume" in request:
        with open(request["resume"], "rb") as file:
            return lt.read_resume_data(file.read())
    torrent = request["torrent"]
    params = lt.parse_magnet_uri(torrent) if torrent.startswith("magnet:") else lt.load_torrent_file(torrent)
    params.save_path = request["save"]
    return params


def add(request):
    global handle, selects
    params = params_of(request)
    selects = len(params.file_priorities) > 0
    params.flags &= ~(lt.torrent_flags.auto_managed | lt.torrent_flags.paused)
    params.flags |= lt.torrent_flags.disable_dht | lt.torrent_flags.disable_lsd | lt.torrent_flags.disable_pex
    handle = session.add_torrent(params)
    return {}


def status():
    global flushing
    now = handle.status()
    has_all = now.is_finished if selects else now.is_seeding
    if has_all and not flushing:
        # What it has may not be in the files yet.
        handle.flush_cache()
        flushing = True
    info = handle.torrent_file()
    return {
        "done": has_all and flushed,
        "state": f"{now.state} {now.progress * 100:.1f} % {now.errc.message()}",
        "progress": None if now.state in CHECKING else now.progress,
        "downloaded": now.total_payload_download,
        "v1": str(now.info_hashes.v1) if now.info_hashes.has_v1() else None,
        "v2": str(now.info_hashes.v2) if now.info_hashes.has_v2() else None,
        "info": info.info_section().hex() if info else None,
    }


def work(request):
    gather()
    if "torrent" in request or "resume" in request:
        return add(request)
    if "connect" in request:
        handle.connect_peer(("127.0.0.1", request["connect"]))
        return {}
    if "log" in request:
        return {"log": list(log)}
    return status()


def say(answer):
    print(json.dumps(answer), flush=True)


end = time.monotonic() + 20
while session.listen_port() == 0 and time.monotonic() < end:
    session.wait_for_alert(50)
    gather()
say({"version": lt.version, "port": session.listen_port()})
for line in sys.stdin:
    try:
        say(work(json.loads(line)))
    except Exception as error:  # whatever libtorrent says is the answer
        say({"error": str(error)})
