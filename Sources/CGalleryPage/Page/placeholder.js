import { decodeThumbHash } from './thumbhash.js';

/** Shape of an item's image: width to height, or null if unknown. */
export function aspectOf(item) {
  return item.width && item.height ? item.width / item.height : null;
}

/**
 * Shows the placeholder of an item's image as the background of an element: its ThumbHash, made once and kept with the
 * item, on its colour. Without a valid hash, only the colour.
 */
export function drawPlaceholder(element, item) {
  if (item.placeholder === undefined) item.placeholder = draw(item);
  setPlaceholder(element, item);
}

/** Shows the part of the placeholder that needs no drawing. */
export function setPlaceholder(element, item) {
  const { style } = element;
  style.backgroundColor = item?.color ?? '';
  style.backgroundImage = item?.placeholder?.image ?? '';
  style.backgroundSize = item?.placeholder?.size ?? '';
}

/** An image without anything. */
const NOTHING = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>';

/** Leaves the plain cell in place of an image that cannot be loaded, which browsers mark with a sign of their own. */
export function hideFailure(image) {
  image.onerror = () => (image.src = NOTHING);
}

/** The size covers a little more than the element, because the browser fades the edges of an enlarged image. */
function draw(item) {
  if (!item.hash) return null;
  try {
    const { width, height, pixels } = decodeThumbHash(item.hash, aspectOf(item) ?? undefined);
    return { image: `url(${bitmap(width, height, pixels)})`, size: width > height ? 'auto 106%' : '106% auto' };
  } catch {
    return null;
  }
}

/** Bytes before the pixels of a bitmap file. */
const HEAD = 54;

/**
 * RGB pixels as the address of a bitmap file (BMP): without compression it takes a tenth of the time of a canvas, which
 * would encode a PNG.
 */
function bitmap(width, height, pixels) {
  const stride = (width * 3 + 3) & ~3;
  const file = new Uint8Array(HEAD + stride * height);
  const fields = new DataView(file.buffer);
  fields.setUint16(0, 0x424d);
  fields.setUint32(2, file.length, true);
  fields.setUint32(10, HEAD, true);
  fields.setUint32(14, 40, true);
  fields.setInt32(18, width, true);
  // A negative height means that the first row is the top.
  fields.setInt32(22, -height, true);
  fields.setUint16(26, 1, true);
  fields.setUint16(28, 24, true);
  let from = 0;
  for (let y = 0; y < height; y += 1) {
    let to = HEAD + y * stride;
    for (let x = 0; x < width; x += 1) {
      file[to] = pixels[from + 2];
      file[to + 1] = pixels[from + 1];
      file[to + 2] = pixels[from];
      from += 3;
      to += 3;
    }
  }
  return `data:image/bmp;base64,${btoa(String.fromCharCode.apply(null, file))}`;
}
