import { decodeThumbHash } from './thumbhash.js';

const canvas = document.createElement('canvas');
const context = canvas.getContext('2d', { willReadFrequently: true });

/** Shape of an item's image: width to height, or null if unknown. */
export function aspectOf(item) {
  return item.width && item.height ? item.width / item.height : null;
}

/**
 * Shows what stands for an item's image until there is a thumbnail, as the background of an element: its ThumbHash,
 * made once and kept with the item, on its colour. Only the colour without a hash, or if it is damaged.
 */
export function drawPlaceholder(element, item) {
  if (item.placeholder === undefined) item.placeholder = draw(item);
  setPlaceholder(element, item);
}

/** Shows as much of the placeholder as there is without drawing it. */
export function setPlaceholder(element, item) {
  const { style } = element;
  style.backgroundColor = item?.color ?? '';
  style.backgroundImage = item?.placeholder?.image ?? '';
  style.backgroundSize = item?.placeholder?.size ?? '';
}

/** The size covers a little more than the element, as the browser fades the edges of what it enlarges. */
function draw(item) {
  if (!item.hash) return null;
  try {
    const { width, height, pixels } = decodeThumbHash(item.hash, aspectOf(item) ?? undefined);
    canvas.width = width;
    canvas.height = height;
    context.putImageData(new ImageData(pixels, width, height), 0, 0);
    return { image: `url(${canvas.toDataURL()})`, size: width > height ? 'auto 106%' : '106% auto' };
  } catch {
    return null;
  }
}
