"""SVG and PDF: drawings whose picture is known, as all edges lie between pixels."""

import zlib

import numpy as np

from picture import SIZE, Case, colours, shown

# The drawing has one unit for each pixel. Left, top, width and height, colour and opacity.
PARTS = [
    ((0, 0, 151, 103), (200, 220, 240), 1),
    ((10, 12, 60, 40), (255, 0, 0), 1),
    ((50, 30, 70, 60), (0, 128, 0), 0.5),
    ((120, 90, 31, 13), (0, 0, 0), 1),
    ((0, 60, 1, 43), (0, 0, 255), 1),
]


def cases(folder):
    return [*svgs(folder), *pdfs(folder)]


def painted(parts):
    picture = np.full((SIZE[1], SIZE[0], 3), 255.0)
    for (left, top, width, height), colour, opacity in parts:
        part = picture[top : top + height, left : left + width]
        part[:] = part * (1 - opacity) + np.array(colour) * opacity
    return picture


def svgs(folder):
    width, height = SIZE

    def rectangles(parts):
        return "".join(
            f'<rect x="{left}" y="{top}" width="{across}" height="{down}" fill="rgb{colour}" fill-opacity="{opacity}"/>'
            for (left, top, across, down), colour, opacity in parts
        )

    namespaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    moved = '<g transform="translate(-5 7)"><svg x="5" y="-7">' + rectangles(PARTS) + "</svg></g>"
    first = PARTS[0][0]
    files = {
        "sides": (f'width="{width}" height="{height}"', rectangles(PARTS), painted(PARTS)),
        "box": (f'viewBox="0 0 {width} {height}"', rectangles(PARTS), painted(PARTS)),
        "box-aside": (
            f'width="{width}" height="{height}" viewBox="-20 -10 {width} {height}"',
            f'<g transform="translate(-20 -10)">{rectangles(PARTS)}</g>', painted(PARTS),
        ),
        "clear": (f'width="{width}" height="{height}"', rectangles(PARTS[1:]), painted(PARTS[1:])),
        "moved": (f'width="{width}" height="{height}"', moved, painted(PARTS)),
        "used": (
            f'width="{width}" height="{height}"',
            f'<defs><g id="a">{rectangles(PARTS)}</g></defs><use xlink:href="#a"/>', painted(PARTS),
        ),
        "styled": (
            f'width="{width}" height="{height}"',
            f'<style>.a {{ fill: #c8dcf0 }}</style><rect class="a" width="{first[2]}" height="{first[3]}"/>',
            painted(PARTS[:1]),
        ),
    }
    found = []
    for name, (attributes, content, expected) in files.items():
        path = folder / f"svg-{name}.svg"
        path.write_text(f'<?xml version="1.0"?>\n<svg {namespaces} {attributes}>{content}</svg>\n')
        found.append(Case(path, expected, 1))
    return found


# MARK: PDF


def pdf(box, content, objects=(), page=""):
    """One page: `content` draws it, `objects` are numbered from 5."""
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Contents 4 0 R{page}>>".encode(),
        f"<</Length {len(content)}>>stream\n".encode() + content + b"\nendstream",
        *objects,
    ]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n" + "".join(f"{place:010} 00000 n \n" for place in places)
    return data + table.encode() + f"trailer<</Size {len(bodies) + 1}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF".encode()


def pdfs(folder):
    width, height = SIZE
    opaque = [part for part in PARTS if part[2] == 1]
    drawn = "\n".join(
        f"{red / 255:.4f} {green / 255:.4f} {blue / 255:.4f} rg {left} {height - top - down} {across} {down} re f"
        for (left, top, across, down), (red, green, blue), _ in opaque
    ).encode()
    samples = zlib.compress(colours().tobytes())
    image = (
        f"<</Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceRGB/BitsPerComponent 8"
        f"/Filter/FlateDecode/Length {len(samples)}>>stream\n"
    ).encode() + samples + b"\nendstream"
    shows = f"{width} 0 0 {height} 0 0 cm /a Do".encode()
    resources = "/Resources<</XObject<</a 5 0 R>>>>"
    whole = f"0 0 {width} {height}"
    files = {
        "parts": (pdf(whole, drawn), painted(opaque)),
        "box-aside": (pdf(f"30 40 {width + 30} {height + 40}", b"1 0 0 1 30 40 cm\n" + drawn), painted(opaque)),
        "turned": (pdf(whole, drawn, page="/Rotate 90"), np.rot90(painted(opaque), -1)),
        "image": (pdf(whole, shows, [image], resources), shown(colours())),
    }
    found = []
    for name, (data, expected) in files.items():
        path = folder / f"pdf-{name}.pdf"
        path.write_bytes(data)
        found.append(Case(path, expected, 1))
    return found
