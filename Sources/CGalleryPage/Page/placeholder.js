/** Longer side of a decoded placeholder in pixels: seven waves at most need little more. */
const SIDE = 24;

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
export const NOTHING = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>';

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

/**
 * Decodes a ThumbHash: the average colour of an image and the lowest frequencies of its discrete cosine transform, in
 * about 25 bytes. Channels are luminance (L), yellow to blue (P), red to green (Q) and opacity (A); each frequency has
 * four bits. Opacity is left out: transparent pixels have the average colour. `aspect` is width to height; without it
 * the approximate one of the hash is taken.
 *
 * Returns `{width, height, pixels}` with pixels as RGB.
 */
function decodeThumbHash(base64, aspect) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const head = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16);
  const tail = bytes[3] | (bytes[4] << 8);
  const hasAlpha = head >> 23 !== 0;
  const isLandscape = tail >> 15 !== 0;
  const longer = hasAlpha ? 5 : 7;
  const across = Math.max(3, isLandscape ? longer : tail & 7);
  const down = Math.max(3, isLandscape ? tail & 7 : longer);
  const ratio = aspect ?? across / down;
  const width = Math.max(1, Math.round(ratio > 1 ? SIDE : SIDE * ratio));
  const height = Math.max(1, Math.round(ratio > 1 ? SIDE / ratio : SIDE));

  let nibble = hasAlpha ? 12 : 10;
  const channel = (nx, ny, average, scale) => {
    const grid = new Float32Array(nx * ny);
    grid[0] = average / 2;
    for (let y = 0; y < ny; y += 1) {
      for (let x = y ? 0 : 1; x * ny < nx * (ny - y); x += 1) {
        const value = (bytes[nibble >> 1] >> ((nibble & 1) << 2)) & 15;
        grid[y * nx + x] = (value / 7.5 - 1) * scale;
        nibble += 1;
      }
    }
    return transform(grid, nx, ny, width, height);
  };
  const luminance = channel(across, down, (head & 63) / 63, ((head >> 18) & 31) / 31);
  const yellow = channel(3, 3, ((head >> 6) & 63) / 31.5 - 1, (((tail >> 3) & 63) / 63) * 1.25);
  const red = channel(3, 3, ((head >> 12) & 63) / 31.5 - 1, (((tail >> 9) & 63) / 63) * 1.25);

  const pixels = new Uint8ClampedArray(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const b = luminance[pixel] - (2 / 3) * yellow[pixel];
    const r = (3 * luminance[pixel] - b + red[pixel]) / 2;
    pixels[pixel * 3] = 255 * r;
    pixels[pixel * 3 + 1] = 255 * (r - red[pixel]);
    pixels[pixel * 3 + 2] = 255 * b;
  }
  return { width, height, pixels };
}

/** The inverse cosine transform, rows first: the sum over frequencies is separable. */
function transform(grid, nx, ny, width, height) {
  const horizontal = cosines(nx, width);
  const vertical = cosines(ny, height);
  const output = new Float32Array(width * height);
  const sums = new Float32Array(nx);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < nx; x += 1) {
      let sum = 0;
      for (let v = 0; v < ny; v += 1) sum += grid[v * nx + x] * vertical[v * height + y];
      sums[x] = 2 * sum;
    }
    for (let x = 0; x < width; x += 1) {
      let sum = 0;
      for (let u = 0; u < nx; u += 1) sum += sums[u] * horizontal[u * width + x];
      output[y * width + x] = sum;
    }
  }
  return output;
}

const tables = new Map();

/** The cosines of `count` frequencies at the centres of `size` pixels. */
function cosines(count, size) {
  const key = count * 64 + size;
  let table = tables.get(key);
  if (!table) {
    table = new Float32Array(count * size);
    for (let u = 0; u < count; u += 1) {
      for (let x = 0; x < size; x += 1) table[u * size + x] = Math.cos((Math.PI / size) * (x + 0.5) * u);
    }
    tables.set(key, table);
  }
  return table;
}
