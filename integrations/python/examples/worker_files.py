"""worker_files.py LIST FOLDER: thumbnails of a list of URLs as files, without an engine."""

import sys
from pathlib import Path

from thumbs_worker import Options, Worker

urls = Path(sys.argv[1]).read_text().split()
options = Options(sizes=[256], format="jpeg", output=sys.argv[2])
with Worker(options) as worker:
    for result in worker.map({"url": url, "key": f"{number:05d}"} for number, url in enumerate(urls)):
        print(urls[result.index], result.thumbnails[0].path if result.ok else result.error.code)
