"""pool_hashes.py LIST: something of one's own with each thumbnail, in two processes of Python."""

import sys
import zlib
from pathlib import Path

from thumbs_worker import Options, Result, pool


def checksums(results: list[Result]) -> list[tuple[int, int | None]]:
    return [(result.index, zlib.crc32(result.data) if result.ok else None) for result in results]


if __name__ == "__main__":
    urls = Path(sys.argv[1]).read_text().split()
    for index, checksum in pool.map(urls, processes=2, then=checksums, options=Options(sizes=[256])):
        print(urls[index], checksum)
