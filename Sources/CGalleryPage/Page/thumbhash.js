/** Longer side of a decoded placeholder in pixels: seven waves at most need little more. */
const SIDE = 24;

/**
 * Decodes a ThumbHash: the average colour of an image and the lowest frequencies of its discrete cosine transform, in
 * about 25 bytes. Channels are luminance (L), yellow to blue (P), red to green (Q) and opacity (A); each frequency has
 * four bits. Opacity is left out: transparent pixels have the average colour. `aspect` is width to height; without it
 * the approximate one of the hash is taken.
 *
 * Returns `{width, height, pixels}` with pixels as RGB.
 */
export function decodeThumbHash(base64, aspect) {
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
