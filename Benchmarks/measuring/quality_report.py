"""Prints what quality.py found."""

import statistics

from measuring import jpeg

YARDSTICK = "vipsthumbnail"


def show(scores, frames, case, own):
    """A row for each tool, then ours against vipsthumbnail, picture by picture."""
    print(f"  {'':<26} {'SSIM mean':>10} {'worst':>8} {'PSNR mean':>10} {'worst':>7}  {'sizes'}")
    for tool, pictures in scores.items():
        ssim = [score["ssim"] for score in pictures.values()]
        psnr = [score["psnr"] for score in pictures.values()]
        print(
            f"  {tool:<26} {statistics.mean(ssim):>10.4f} {min(ssim):>8.4f} {statistics.mean(psnr):>10.2f} "
            f"{min(psnr):>7.2f}  {sizes_line(pictures, frames, case)}"
        )
    if own in scores and YARDSTICK in scores:
        compare(scores[own], scores[YARDSTICK], own)


def sizes_line(pictures, frames, case):
    """How many thumbnails have not the size that rounding gives, and how many not even within a pixel."""
    differences = [difference(score["size"], frames[name], case) for name, score in pictures.items()]
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
    gaps = {name: mine[name]["ssim"] - theirs[name]["ssim"] for name in mine}
    worst, best = min(gaps, key=gaps.get), max(gaps, key=gaps.get)
    print(
        f"  SSIM of {own} less that of {YARDSTICK}: mean {statistics.mean(gaps.values()):+.4f}, "
        f"worst {gaps[worst]:+.4f} ({worst}), best {gaps[best]:+.4f} ({best})"
    )
