"""Has quality.py score thumbnails, and sums up what it found."""

import json
import os
import statistics
import subprocess
from pathlib import Path

from measuring import jpeg

YARDSTICK = "vipsthumbnail"
# Each column of a table: its title, the light of the reference, the score, whether less is better, and the digits.
COLUMNS = [
    ("SSIM", "display", "ssim", False, 4),
    ("dE2000", "display", "de", True, 2),
    ("SSIMULACRA2", "display", "ssimulacra2", False, 1),
    ("SSIM, linear", "linear", "ssim", False, 4),
    ("dE2000, linear", "linear", "de", True, 2),
    ("SSIMULACRA2, linear", "linear", "ssimulacra2", False, 1),
]


def score(python, fit, photos, folders):
    """The scores of each tool's thumbnails in its folder, by tool and by image name."""
    run = subprocess.run(
        [python, Path(__file__).with_name("quality.py"), fit],
        input=json.dumps({"photos": [str(photo) for photo in photos], "folders": folders}),
        stdout=subprocess.PIPE,
        env={**os.environ, "VIPS_CONCURRENCY": "1", "OMP_NUM_THREADS": "1"},
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def cells(scores):
    """For each column the mean, the 5th percentile (of dE2000 the 95th) and the worst of one tool's images."""
    return [
        summary([one[light][name] for one in scores.values()], less_is_better, digits)
        for _, light, name, less_is_better, digits in COLUMNS
    ]


def summary(values, less_is_better, digits):
    ordered = sorted(values, reverse=less_is_better)
    # Rank rounded down: of 31 images the second worst, of fewer than 20 the worst.
    parts = statistics.mean(values), ordered[len(ordered) // 20], ordered[0]
    return " / ".join(f"{part:.{digits}f}" for part in parts)


def show(scores, frames, case, own):
    """A row for each tool, then ours against vipsthumbnail, image by image."""
    titles = [title for title, *_ in COLUMNS]
    print("  mean / 5th percentile / worst of each")
    print("  | | " + " | ".join([*titles, "PSNR", "sizes"]) + " |")
    print("  |" + "---|" * (len(titles) + 3))
    for tool, pictures in scores.items():
        psnr = statistics.mean(one["psnr"] for one in pictures.values())
        words = [tool, *cells(pictures), f"{psnr:.2f} dB", sizes_line(pictures, frames, case)]
        print("  | " + " | ".join(words) + " |")
    if own in scores and YARDSTICK in scores:
        compare(scores[own], scores[YARDSTICK], own)


def sizes_line(pictures, frames, case):
    """How many thumbnails have not the size that rounding gives, and how many not even within a pixel."""
    differences = [difference(one["size"], frames[name], case) for name, one in pictures.items()]
    others, wrong = sum(value == 1 for value in differences), sum(value > 1 for value in differences)
    if not others and not wrong:
        return "as rounded"
    return f"{others} a pixel off" + (f", {wrong} WRONG" if wrong else "")


def difference(size, frame, case):
    if case.fit == "cover":
        wanted = [list(case.box)]
    else:
        # Also on its side: the frame does not tell how the picture is to be turned.
        sides = list(jpeg.fitted(frame.width, frame.height, case.box, case.fit))
        wanted = [sides, sides[::-1]]
    return min(max(abs(size[0] - width), abs(size[1] - height)) for width, height in wanted)


def compare(mine, theirs, own):
    gaps = {name: mine[name]["display"]["ssim"] - theirs[name]["display"]["ssim"] for name in mine}
    worst, best = min(gaps, key=gaps.get), max(gaps, key=gaps.get)
    print(
        f"  SSIM of {own} less that of {YARDSTICK}: mean {statistics.mean(gaps.values()):+.4f}, "
        f"worst {gaps[worst]:+.4f} ({worst}), best {gaps[best]:+.4f} ({best})"
    )
