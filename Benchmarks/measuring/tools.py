"""The tools that are compared, each as the command that makes the thumbnails of a list of photographs.

Every peer is given the cheapest reading it has that still holds at least the thumbnail's pixels, and runs as it does
best on two cores; one that works on several pictures at once does each on one thread.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from measuring import jpeg
from measuring.process import measure
from measuring.thumbs import understands

QUALITY = 80
WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Case:
    """A size and a fit. The box is square: some peers cannot tell in time whether a picture will be turned."""

    name: str
    side: int
    fit: str

    @property
    def box(self):
        return (self.side, self.side)

    @property
    def size(self):
        return f"{self.side}x{self.side}"


CASES = {case.name: case for case in (Case("contain256", 256, "contain"), Case("cover400", 400, "cover"))}


@dataclass
class Command:
    """What is run: words, standard input, environment, and where."""

    words: list
    text: str = ""
    environment: dict = field(default_factory=dict)
    directory: Path | None = None

    def run(self):
        return measure(self.words, self.text, self.environment, self.directory)


@dataclass(frozen=True)
class Tool:
    """A peer, or ours. `command(case, photos, output)` makes JPEG thumbnails of the images' names in `output`."""

    name: str
    command: object
    processes: int = 1
    makes_files: bool = True


def lines(photos):
    return "".join(f"{photo}\n" for photo in photos)


def two_processes(words, photos, at_once=None, environment=None):
    """Two processes at a time, each with an eighth of the photographs, which costs less than one process for each."""
    at_once = at_once or max(4, len(photos) // 8)
    return Command(["xargs", "-d", "\\n", "-P2", f"-n{at_once}", *words], lines(photos), environment or {})


def vipsthumbnail_words(case, output):
    crop = ["--smartcrop", "centre"] if case.fit == "cover" else []
    return ["vipsthumbnail", "--size", case.size, *crop, "-o", f"{output}/%s.jpg[Q={QUALITY},strip]"]


def vipsthumbnail(case, photos, output):
    return Command([*vipsthumbnail_words(case, output), *photos])


def vipsthumbnail_twice(case, photos, output):
    return two_processes(vipsthumbnail_words(case, output), photos, environment={"VIPS_CONCURRENCY": "1"})


def library(name, python):
    def command(case, photos, output):
        words = [python, WORKER, name, case.side, case.side, case.fit, output]
        return Command(words, lines(photos), {"VIPS_CONCURRENCY": "1"})

    return command


def magick_words(case):
    if case.fit == "contain":
        return ["-auto-orient", "-thumbnail", case.size, "-quality", QUALITY]
    cover = ["-thumbnail", f"{case.size}^", "-gravity", "center", "-extent", case.size]
    return ["-auto-orient", *cover, "-quality", QUALITY]


def graphicsmagick(case, photos, output):
    words = ["gm", "mogrify", "-size", case.size, *magick_words(case), "-output-directory", output]
    # It puts the whole path that it was given below the output.
    command = two_processes(words, [photo.name for photo in photos], environment={"OMP_NUM_THREADS": "1"})
    command.directory = folder_of(photos)
    return command


def imagemagick(case, photos, output):
    words = ["mogrify-im6.q16", "-define", f"jpeg:size={case.size}", *magick_words(case), "-path", output]
    return two_processes(words, photos, environment={"OMP_NUM_THREADS": "1"})


def djpeg(case, photos, output):
    """libjpeg-turbo alone: decoded at the scale that suffices, neither resized nor encoded."""
    words = []
    for photo in photos:
        frame = jpeg.frame(photo)
        words += [f"1/{jpeg.reduction(frame.width, frame.height, case.box, case.fit)}", "-outfile", "/dev/null", photo]
    return two_processes(["djpeg", "-scale"], words, at_once=4)


def ours(binary):
    """`thumbs convert`; before it stands, a prefetch of the folder into an empty cache."""

    def convert(case, photos, output):
        words = [binary, "convert", folder_of(photos), "--output", output, "--size", case.size, "--fit", case.fit]
        return Command([*words, "--quality", QUALITY, "--jobs", 2])

    def prefetch(case, photos, output):
        words = [binary, "prefetch", "--query", "", "--provider", f"folder:{folder_of(photos)}", "--count", 30000]
        words += ["--size", case.size, "--fit", case.fit, "--quality", QUALITY, "--jobs", 2]
        return Command([*words, "--cache-dir", output, "--json"])

    if understands(binary, "convert", "--output"):
        return Tool("thumbs convert", convert)
    return Tool("thumbs prefetch", prefetch, makes_files=False)


# The quality of the peers' files, at which chroma is 4:2:0.
AS_PEERS = ["--quality", QUALITY]


def ours_with(name, binary, options):
    """`thumbs convert` with these options for the encoder."""

    def convert(case, photos, output):
        words = [binary, "convert", folder_of(photos), "--output", output, "--size", case.size, "--fit", case.fit]
        return Command([*words, "--format", "jpeg", "--jobs", 2, *options])

    return Tool(name, convert)


def folder_of(photos):
    return Path(photos[0]).parent


def matrix_tools(binary, python, options):
    """Ours as the peers encode and ours by default, then the peers that read more formats than JPEG."""
    return [
        ours_with("thumbs", binary, options),
        ours_with("thumbs, its defaults", binary, []),
        Tool("OpenCV", library("opencv", python), processes=2),
        Tool("simplejpeg", library("simplejpeg", python), processes=2),
        Tool("Pillow with draft", library("pillow", python), processes=2),
        Tool("pyvips", library("pyvips", python)),
        Tool("vipsthumbnail", vipsthumbnail_twice, processes=2),
    ]


def all_tools(binary, python):
    """Ours first, then the peers."""
    return [
        ours(binary),
        Tool("vipsthumbnail", vipsthumbnail),
        Tool("xargs -P2 vipsthumbnail", vipsthumbnail_twice, processes=2),
        Tool("pyvips, 2 threads", library("pyvips", python)),
        Tool("Pillow with draft", library("pillow", python), processes=2),
        Tool("OpenCV reduced", library("opencv", python), processes=2),
        Tool("GraphicsMagick", graphicsmagick, processes=2),
        Tool("ImageMagick", imagemagick, processes=2),
        Tool("djpeg -scale", djpeg, processes=2, makes_files=False),
    ]
