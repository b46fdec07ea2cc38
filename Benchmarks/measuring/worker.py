"""The peers that are Python libraries. Runs in an environment of its own, with pyvips, Pillow, OpenCV and numpy.

Usage: worker.py pyvips|pillow|opencv|simplejpeg WIDTH HEIGHT contain|cover OUTPUT <LIST
       LIST is paths of image files, one a line. Two at a time: pyvips in threads, the others in processes. The
       thumbnails are JPEG files of the images' names: 4:2:0, without Huffman optimisation. simplejpeg reads at the
       least m/8 that suffices, with the fast transform and upsampling.
"""

import multiprocessing
import multiprocessing.pool
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from measuring import jpeg  # noqa: E402

QUALITY = 80


def pyvips_thumbnail(task):
    import pyvips

    path, output, box, fit = task
    crop = {"crop": "centre"} if fit == "cover" else {}
    thumbnail = pyvips.Image.thumbnail(path, box[0], height=box[1], **crop)
    if thumbnail.hasalpha():
        thumbnail = thumbnail.flatten(background=255)
    thumbnail.jpegsave(output, Q=QUALITY)


def pillow_thumbnail(task):
    from PIL import Image, ImageOps

    path, output, box, fit = task
    with Image.open(path) as image:
        is_turned = image.getexif().get(0x0112, 1) >= 5
        stored = box[::-1] if is_turned else box
        image.draft("RGB", jpeg.fitted(*image.size, stored, fit))
        profile = image.info.get("icc_profile")
        ImageOps.exif_transpose(image, in_place=True)
        image = image.convert("RGB")
        whole = jpeg.fitted(*image.size, box, fit)
        small_box = box if fit == "cover" else whole
        # The part of the picture that is kept, cropped at a whole pixel of the thumbnail as other tools do.
        scale = image.width / whole[0], image.height / whole[1]
        left, top = ((whole[axis] - small_box[axis]) // 2 for axis in (0, 1))
        part = (left * scale[0], top * scale[1], (left + small_box[0]) * scale[0], (top + small_box[1]) * scale[1])
        small = image.resize(small_box, Image.Resampling.LANCZOS, box=part)
        small.save(output, quality=QUALITY, icc_profile=profile)


def opencv_thumbnail(task):
    import cv2

    path, output, box, fit = task
    flag = cv2.IMREAD_COLOR
    if path.endswith(".jpg"):
        # The box is square, so that it does not matter here whether the picture will be turned.
        frame = jpeg.frame(path)
        by = jpeg.reduction(frame.width, frame.height, box, fit)
        reduced = {2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4, 8: cv2.IMREAD_REDUCED_COLOR_8}
        flag = reduced.get(by, flag)
    image = cv2.imread(path, flag)
    small = opencv_resized(image, jpeg.fitted(*image.shape[1::-1], box, fit), box, fit)
    cv2.imwrite(output, small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])


def opencv_resized(image, size, box, fit):
    import cv2

    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    if fit == "cover":
        top, left = (small.shape[0] - box[1]) // 2, (small.shape[1] - box[0]) // 2
        small = small[top : top + box[1], left : left + box[0]]
    return small


def simplejpeg_thumbnail(task):
    import numpy
    import simplejpeg

    path, output, box, fit = task
    data = pathlib.Path(path).read_bytes()
    height, width, _, _ = simplejpeg.decode_jpeg_header(data)
    size = jpeg.fitted(width, height, box, fit)
    image = simplejpeg.decode_jpeg(
        data, "BGR", fastdct=True, fastupsample=True, min_height=size[1], min_width=size[0], min_factor=1
    )
    small = numpy.ascontiguousarray(opencv_resized(image, size, box, fit))
    made = simplejpeg.encode_jpeg(small, quality=QUALITY, colorspace="BGR", colorsubsampling="420")
    pathlib.Path(output).write_bytes(made)


def import_library(library):
    """Before the processes fork, so that they need not do it each for itself."""
    if library == "pyvips":
        import pyvips  # noqa: F401
    elif library == "pillow":
        import pillow_heif
        from PIL import Image, ImageOps, JpegImagePlugin  # noqa: F401

        pillow_heif.register_heif_opener()
    else:
        import cv2

        cv2.setNumThreads(1)
    if library == "simplejpeg":
        import simplejpeg  # noqa: F401


def main():
    library, width, height, fit, output = sys.argv[1:]
    box = (int(width), int(height))
    paths = sys.stdin.read().splitlines()
    tasks = [(path, os.path.join(output, f"{pathlib.Path(path).stem}.jpg"), box, fit) for path in paths]
    import_library(library)
    work = globals()[f"{library}_thumbnail"]
    pool = multiprocessing.pool.ThreadPool if library == "pyvips" else multiprocessing.get_context("fork").Pool
    with pool(2) as workers:
        for _ in workers.imap_unordered(work, tasks, chunksize=4):
            pass
        workers.close()
        workers.join()  # A process that has been waited for counts for its parent's memory and processor time.


if __name__ == "__main__":
    main()
