import { base } from './api.js';

/** Sides of thumbnails in pixels: few, so that they are cached when a window is resized. */
const THUMBNAILS = [128, 192, 256, 320, 400, 512, 640, 800];
/** Sides of enlarged images in pixels. */
const ENLARGED = [1024, 1600, 2048, 2560];
/** The longest one. */
export const LARGEST = ENLARGED.at(-1);

/** Device pixels per CSS pixel; 1 if the user wants to save data. */
export const scale = () => savesData() ? 1 : devicePixelRatio;

export const savesData = () => navigator.connection?.saveData === true;

/** The box of thumbnails whose longer side is `side` CSS pixels, as `400x400`. */
export const thumbnailBox = (side) => box(THUMBNAILS, side);

/** The box of an enlarged image on a stage whose longer side is `side` CSS pixels. */
export const enlargedBox = (side) => box(ENLARGED, side);

/** The address of a form of an image. `fit` is `cover` or `contain`. */
export const imageAddress = (key, box, fit) => `${base}/picture/${key}/${box}-${fit}`;

function box(sides, side) {
  const needed = Math.floor(side * scale());
  const taken = sides.find((candidate) => candidate >= needed) ?? sides.at(-1);
  return `${taken}x${taken}`;
}
