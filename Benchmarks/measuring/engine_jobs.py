"""One list of URLs through each engine: seconds of the work itself, without the engine's start."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# No cache: every run does the same work.
FRESH = {"disk_cache": 0}


def worker_alone(binary, urls, size):
    """`thumbs worker` without Python between it and the list."""
    with tempfile.TemporaryFile("w+") as listed:
        listed.write("\n".join(urls) + "\n")
        listed.seek(0)
        begun = time.perf_counter()
        words = [binary, "worker", "--inline", "--size", str(size), "--disk-cache", "0"]
        output = subprocess.run(words, stdin=listed, stdout=subprocess.PIPE, check=True).stdout
        seconds = time.perf_counter() - begun
    assert output.count(b'"status":"ok"') == len(urls), output[:2000]
    return seconds


def worker_object(urls, size):
    """The same by `Worker`."""
    from thumbs_worker import Options, Worker

    begun = time.perf_counter()
    with Worker(Options(sizes=[size], **FRESH)) as worker:
        assert all(result.ok for result in worker.map(urls))
    return time.perf_counter() - begun


class Spark:
    """A Spark session of two executors with a core each."""

    def __init__(self):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        # An executor that a measurement kills on purpose is no reason to give up.
        self.session = builder.config("spark.task.maxFailures", "20").getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.stop()

    def rows(self, urls, partitions=2):
        """The URLs as a data frame, in so many partitions of the same size."""
        return self.session.createDataFrame([(url,) for url in urls], "url string").repartition(partitions)

    def run(self, urls, size):
        """Two tasks with a worker each."""
        from thumbs_worker import Options
        from thumbs_worker.spark import thumbnails

        rows = self.rows(urls).persist()
        rows.count()
        begun = time.perf_counter()
        done = thumbnails(rows, group_by_host=False, options=Options(sizes=[size], **FRESH))
        assert done.where("thumbs.status = 'ok'").count() == len(urls)
        return time.perf_counter() - begun

    def executors(self):
        """The ids of the executors' processes."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in words and self.session.sparkContext.applicationId.encode() in words:
                found.append(int(folder.name))
        return sorted(found)

    def kill_one_after(self, seconds, choose):
        """Kills one of the executors after so many seconds, on a thread; the event says that one was there."""
        killed = threading.Event()

        def kill():
            time.sleep(seconds)
            found = self.executors()
            if found:
                os.kill(choose(found), signal.SIGKILL)
                killed.set()

        threading.Thread(target=kill, daemon=True).start()
        return killed


class Ray:
    """Ray on this machine."""

    def __init__(self):
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, logging_level="error")
        ray.data.DataContext.get_current().enable_progress_bars = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        import ray

        ray.shutdown()

    def run(self, urls, size):
        """Two actors with a worker each."""
        import ray

        from thumbs_worker import Options
        from thumbs_worker.ray import thumbnails

        rows = ray.data.from_items([{"url": url} for url in urls], override_num_blocks=8).materialize()
        begun = time.perf_counter()
        options = Options(sizes=[size], **FRESH)
        done = thumbnails(rows, concurrency=2, batch_size=64, options=options)
        count = sum(status == "ok" for batch in done.iter_batches(batch_format="pyarrow") for status in statuses(batch))
        assert count == len(urls)
        return time.perf_counter() - begun


def statuses(batch):
    return [value["status"] for value in batch.column("thumbs").to_pylist()]
