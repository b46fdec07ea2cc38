"""dask_frame.py LIST FOLDER: a Parquet table with a thumbnail for each URL, by the processes of Dask."""

import sys

import dask.dataframe as dd
from dask.distributed import Client

from thumbs_worker.dask import thumbnails

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1):
        urls = dd.read_csv(sys.argv[1], header=None, names=["url"])
        thumbnails(urls.repartition(npartitions=2), url="url", sizes=[256]).to_parquet(sys.argv[2])
        print(len(dd.read_parquet(sys.argv[2])), "rows")
