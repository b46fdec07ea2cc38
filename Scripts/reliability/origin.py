"""A web server on loopback that has twelve pictures, each in a format or of a length with a way of its own."""

import http.server
import pathlib
import threading

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "TestImages"

# Read by our own readers, by libvips, and in a helper; in memory, in a spill file (more than 256 KiB), and in a file of
# `partial` (more than 1 MiB: a picture with bytes behind its end, which decoders leave alone).
PICTURES = {
    **{
        name: (IMAGES / "formats" / name).read_bytes()
        for name in (
            "jpeg-420.jpg jpeg-progressive.jpg png-rgba.png png-palette.png webp-lossy.webp gif-still.gif tiff-lzw.tif "
            "heic.heic avif.avif svg.svg"
        ).split()
    },
    "volcano.jpg": (IMAGES / "gallery" / "volcano-above-the-clouds.jpg").read_bytes(),
    "long.jpg": (IMAGES / "formats" / "jpeg-cmyk.jpg").read_bytes() + bytes(1_200_000),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        body = PICTURES.get(self.path.strip("/"))
        status, headers = (200, {}) if body else (404, {})
        wanted = self.headers.get("Range", "")
        if body and wanted.startswith("bytes=") and wanted.endswith("-"):
            start = int(wanted[6:-1])
            status, headers = 206, {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}
            body = body[start:]
        self.send_response(status)
        headers |= {"Content-Length": str(len(body or b"")), "ETag": '"1"', "Accept-Ranges": "bytes"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body or b"")

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # A program that was killed, or whose call failed, hangs up.

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def start():
    """Starts the server for as long as the script runs. Returns its address."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def write_pictures(folder):
    """Writes the same pictures as files."""
    folder.mkdir(parents=True)
    for name, body in PICTURES.items():
        (folder / name).write_bytes(body)
