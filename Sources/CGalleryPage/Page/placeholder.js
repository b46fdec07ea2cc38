import { decodeThumbHash } from './thumbhash.js';

const canvas = document.createElement('canvas');
const context = canvas.getContext('2d', { willReadFrequently: true });

/** Shape of an item's image: width to height, or null if unknown. */
export function aspectOf(item) {
  return item.width && item.height ? item.width / item.height : null;
}

/**
 * The `background-image` that stands for an item's image until there is a thumbnail: its ThumbHash, made once and kept
 * with the item. Empty without a hash, or if it is damaged.
 */
export function placeholder(item) {
  if (item.placeholder === undefined) item.placeholder = draw(item);
  return item.placeholder;
}

function draw(item) {
  if (!item.hash) return '';
  try {
    const { width, height, pixels } = decodeThumbHash(item.hash, aspectOf(item) ?? undefined);
    canvas.width = width;
    canvas.height = height;
    context.putImageData(new ImageData(pixels, width, height), 0, 0);
    return `url(${canvas.toDataURL()})`;
  } catch {
    return '';
  }
}
