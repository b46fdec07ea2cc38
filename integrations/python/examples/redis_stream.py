"""redis_stream.py REDIS FOLDER IDLE: thumbnails of a stream; what has no answer after IDLE ms is delivered again."""

import sys

import redis
from thumbs_worker import Options, Worker

server = redis.Redis.from_url(sys.argv[1], decode_responses=True)
if not server.exists("pictures") or not server.xinfo_groups("pictures"):
    server.xgroup_create("pictures", "thumbs", id="0", mkstream=True)
entries = server.xautoclaim("pictures", "thumbs", "me", int(sys.argv[3]), count=1000)[1]
entries += [entry for _, new in server.xreadgroup("thumbs", "me", {"pictures": ">"}, 1000) for entry in new]
with Worker(Options(sizes=[256], output=sys.argv[2], max_wait="0")) as worker:
    for result in worker.map({"id": name, "url": fields["url"]} for name, fields in entries):
        print(result.id, "ok" if result.ok else result.error.code)
        if not result.retry:
            server.xack("pictures", "thumbs", result.id)
