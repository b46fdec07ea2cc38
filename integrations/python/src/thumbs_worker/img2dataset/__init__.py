"""A stand-in for img2dataset: its input, its options, its output. Needs pyarrow, and Pillow for some resize modes."""

from thumbs_worker.img2dataset.run import download
from thumbs_worker.img2dataset.settings import SettingError, Settings

__all__ = ["SettingError", "Settings", "download"]
