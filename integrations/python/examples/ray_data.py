"""ray_data.py LIST FOLDER: a Parquet table with a thumbnail for each URL, made by two actors."""

import sys

import ray

from thumbs_worker.ray import thumbnails

if __name__ == "__main__":
    ray.init(log_to_driver=False)
    urls = ray.data.read_text(sys.argv[1]).rename_columns({"text": "url"})
    thumbnails(urls, url="url", sizes=[256], concurrency=2).write_parquet(sys.argv[2])
    print(ray.data.read_parquet(sys.argv[2]).count(), "rows")
