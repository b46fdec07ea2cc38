"""spark_webdataset.py LIST FOLDER: shards for training from a Parquet table with the columns url and caption."""

import sys

from pyspark.sql import SparkSession

from thumbs_worker.spark_output import write

if __name__ == "__main__":
    spark = SparkSession.builder.getOrCreate()
    rows = spark.read.parquet(sys.argv[1])
    written = write(rows, sys.argv[2], url="url", caption="caption", size=256, rows_per_shard=1000)
    print(f"{written.shards} shards, {written.rows} rows, {written.successes} of them with an image")
