"""Installs what thumbs is compared with, and says which versions these are."""

import subprocess
import sys
from pathlib import Path

from measuring.process import measure

ROOT = Path(__file__).resolve().parent.parent.parent
DEBIAN = [
    "cmd:vipsthumbnail=libvips-tools",
    "pc:vips=libvips-dev",
    "cmd:gm=graphicsmagick",
    "cmd:mogrify-im6.q16=imagemagick-6.q16",
    "cmd:djpeg=libjpeg-turbo-progs",
]
PYPI = ["pyvips", "Pillow", "pillow-heif", "opencv-python-headless", "simplejpeg", "numpy", "scikit-image", "ssimulacra2"]
# Last and alone: where Debian's libvips-dev is installed, pip builds pyvips against it and so replaces this module.
LIBVIPS_OF_PYPI = "pyvips-binary"

PROBE = """import pyvips, PIL, pillow_heif, cv2, simplejpeg, numpy, skimage, ssimulacra2
from importlib.metadata import version
assert version("pyvips-binary").startswith(f"{pyvips.version(0)}.{pyvips.version(1)}."), "not the libvips of PyPI" """


def install(venv):
    """Installs the peers that are missing; returns the Python that has those of PyPI."""
    script = '. "$1/Scripts/lib.sh"; shift; install_missing "$@"; install_nginx'
    needs = [*DEBIAN, *([] if python_can_make_environments() else ["pc:none=python3-venv"])]
    subprocess.run(["bash", "-c", script, "peers", ROOT, *needs], check=True)
    python = Path(venv, "bin/python")
    if not python.exists() or measure([python, "-c", PROBE]).status != 0:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PYPI], check=True)
        subprocess.run([*pip, "--force-reinstall", "--no-deps", LIBVIPS_OF_PYPI], check=True)
        subprocess.run([python, "-c", PROBE], check=True)
    return python


def python_can_make_environments():
    return measure([sys.executable, "-c", "import ensurepip"]).status == 0


def versions(python):
    """A line for each peer."""
    script = """import pyvips, PIL, pillow_heif, cv2
from PIL import features
from importlib.metadata import version
built = next(line for line in cv2.getBuildInformation().splitlines() if line.strip().startswith('JPEG:'))
libvips = ".".join(str(pyvips.version(part)) for part in range(3))
print(f'pyvips {pyvips.__version__} (libvips {libvips}), '
      f'Pillow {PIL.__version__} (libjpeg-turbo {features.version("libjpeg_turbo")}), '
      f'pillow-heif {pillow_heif.__version__} (libheif {pillow_heif.libheif_version()}), '
      f'OpenCV {cv2.__version__} ({built.split(":")[1].strip()}), simplejpeg {version("simplejpeg")}')"""
    commands = [["vips", "--version"], ["gm", "version"], ["mogrify-im6.q16", "-version"], ["djpeg", "-version"]]
    lines = []
    for command in commands:
        run = measure(command)
        lines.append(" ".join((run.output or run.errors).splitlines()[0].split()[:3]))
    return [*lines, measure([python, "-c", script]).output.strip()]
