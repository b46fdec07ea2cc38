"""spark_columns.py LIST FOLDER: a Parquet table with a thumbnail for each URL, and the failures tried again."""

import sys

from pyspark.sql import SparkSession

from thumbs_worker.spark import retry_failed, thumbnails

if __name__ == "__main__":
    spark = SparkSession.builder.getOrCreate()
    urls = spark.read.text(sys.argv[1]).withColumnRenamed("value", "url")
    thumbnails(urls, url="url", sizes=[256]).write.parquet(f"{sys.argv[2]}/first")
    first = spark.read.parquet(f"{sys.argv[2]}/first")
    retry_failed(first, url="url", sizes=[256]).write.parquet(f"{sys.argv[2]}/second")
    spark.read.parquet(f"{sys.argv[2]}/second").groupBy("thumbs.status", "thumbs.error.code").count().show()
