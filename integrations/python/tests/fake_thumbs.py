#!/usr/bin/env -S python3 -IS
"""Stands in for `thumbs` where a test needs a worker that misbehaves: each URL says what becomes of it.

ok: answered. crash: the process dies. crash-once-FILE: dies unless FILE exists, which it then makes. crash-3-FILE:
dies three times, which FILE counts. half: dies in the
middle of its line. silent: never answered. twice: answered twice. noise: lines that answer nothing come first.
strange: answered without a member that has to be there. ending: answered as not tried, as after SIGTERM, and the process ends. slow: answered after the next line.
"""

import json
import os
import signal
import sys


def answer(members, line):
    thumbnail = {
        "size": "256x256", "width": 1, "height": 1, "format": "jpeg", "bytes": 2, "sha256": "0" * 64,
        "cacheKey": "0" * 32 + "/1", "origin": "source", "stored": True, "data": "aGk=",
    }
    source = {"width": 1, "height": 1, "format": "jpeg", "bytes": 2, "downloaded": 2, "left": 0}
    return {
        "line": line, "status": "ok", "key": "0", "url": members["url"], "source": source,
        "thumbnails": [thumbnail], "ms": 1.0, "stages": {},
    }


def failed(members, line, code, status="failed"):
    error = {"stage": "line", "code": code, "message": code, "retry": False}
    return {
        "line": line, "status": status, "thumbnails": [], "error": error, "ms": 0, "stages": {},
    }


def put(text):
    os.write(1, text.encode())


def main():
    if sys.argv[1:2] != ["worker"]:
        sys.exit(64)
    if "--wrong" in sys.argv:
        print("Error: Unknown option '--wrong'", file=sys.stderr)
        sys.exit(64)
    if "--dies" in sys.argv:
        print("no library", file=sys.stderr)
        sys.exit(70)
    late = []
    for line, text in enumerate(sys.stdin, 1):
        members = json.loads(text)
        what = str(members.get("url", "ok")).rpartition("/")[2]
        reply = json.dumps(answer(members, line) if "url" in members else failed(members, line, "invalid-line")) + "\n"
        if what == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif what.startswith("crash-once-"):
            flag = what.removeprefix("crash-once-").replace("%", "/")
            if not os.path.exists(flag):
                open(flag, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        elif what.startswith("crash-3-"):
            flag = what.removeprefix("crash-3-").replace("%", "/")
            with open(flag, "a") as counter:
                counter.write("x")
                is_enough = counter.tell() > 3
            if not is_enough:
                os.kill(os.getpid(), signal.SIGKILL)
        elif what == "half":
            put(reply[: len(reply) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        elif what.startswith("ending-"):
            flag = what.removeprefix("ending-").replace("%", "/")
            if not os.path.exists(flag):
                open(flag, "w").close()
                put(json.dumps(failed(members, line, "ending", "skipped")) + "\n")
                sys.exit(143)
        elif what == "silent":
            continue
        elif what == "noise":
            put('no JSON\n[]\n{"summary":{}}\n{"line":99999,"status":"ok"}\n')
        elif what == "strange":
            reply = reply.replace('"sha256"', '"sum"')
        elif what == "slow":
            late.append(reply)
            continue
        put(reply * 2 if what == "twice" else reply)
        while late:
            put(late.pop())
    for reply in late:
        put(reply)


main()
