"""A photo service on loopback that speaks the part of Unsplash's API which a gallery needs, and serves the pictures."""

import http.server
import json
import threading
from urllib.parse import parse_qs, urlsplit


class PhotoService:
    """A running service: `base` is its address, `total` the number of its photos. It can be out of reach for a while."""

    def __init__(self, picture, total):
        self.total, self.is_reachable, self.pages = total, True, []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                if not service.is_reachable:
                    self.close_connection = True
                    return
                parts = urlsplit(self.path)
                if parts.path.startswith("/search/photos"):
                    self.reply("application/json", service.search(parse_qs(parts.query)))
                elif parts.path.startswith("/photos/random"):
                    count = int(parse_qs(parts.query).get("count", ["1"])[0])
                    self.reply("application/json", [service.photo(number) for number in range(count)])
                else:
                    number = int(parts.path.rsplit("/", 1)[1].split(".")[0])
                    self.reply("image/png", picture(number))

            def reply(self, kind, body):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def search(self, query):
        page, size = int(query["page"][0]), int(query["per_page"][0])
        self.pages.append(page)
        total = 0 if query["query"][0] == "nothing" else self.total
        first = (page - 1) * size
        return {
            "total": total,
            "total_pages": -(-total // size),
            "results": [self.photo(number) for number in range(first, min(first + size, total))],
        }

    def photo(self, number):
        return {
            "id": f"photo{number}",
            "width": 300,
            "height": 200,
            "description": f"Photo {number}",
            "urls": {"raw": f"{self.base}/pictures/{number}.png"},
            "links": {"html": f"https://example.org/{number}", "download_location": f"{self.base}/used"},
            "user": {"name": "Ada", "username": "ada", "links": {"html": "https://example.org/@ada"}},
        }

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
