const numbers = new Intl.NumberFormat('en');
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

/** An element with a text, and other properties. */
export function element(name, text = '', properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

export const number = (value) => numbers.format(value);

/** `1 film`, `5,312 films`. */
export const counted = (count, name) => `${number(count)} ${name}${count === 1 ? '' : 's'}`;

export const pictures = (count) => counted(count, 'picture');

/** A message of the server, which begins without a capital and has no full stop, as a sentence. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');

/** A date as `2026-11-20` in words. */
export function day(date) {
  const time = Date.parse(date);
  return Number.isNaN(time) ? '' : dates.format(time);
}

/** The source of a date. */
const SOURCES = {
  camera: 'from the camera',
  xmp: 'from its XMP data',
  name: 'from its name',
  file: 'time of the file',
};

/** The date of an item, and its source. */
export function taken({ date, dateSource }) {
  return dateSource in SOURCES ? `${day(date)} (${SOURCES[dateSource]})` : day(date);
}

/** The date of an item, with the time and the zone if its details have them, and its source. */
export function takenAt(item, { taken: text }) {
  const [, time, zone] = /T(\d\d:\d\d)[\d:.]*([+-]\d\d:\d\d)?/.exec(text ?? '') ?? [];
  return [day(item.date), time, zone && `(UTC${zone})`, SOURCES[item.dateSource] && `– ${SOURCES[item.dateSource]}`]
    .filter(Boolean)
    .join(' ');
}

/** `6,000 × 4,000`. */
export const size = ({ width, height }) => `${number(width)} × ${number(height)}`;

export function megapixels({ width, height }) {
  const millions = (width * height) / 1e6;
  return millions < 0.5 ? '' : ` (${millions.toFixed(millions < 10 ? 1 : 0)} MP)`;
}

/** `1/250 s, f/2.8, ISO 400, 50 mm`. */
export function exposure({ exposureTime, aperture, sensitivity, focalLength }) {
  const time = exposureTime < 0.4 ? `1/${Math.round(1 / exposureTime)}` : rounded(exposureTime);
  return [
    exposureTime > 0 && `${time} s`,
    aperture > 0 && `f/${rounded(aperture)}`,
    sensitivity > 0 && `ISO ${sensitivity}`,
    focalLength > 0 && `${rounded(focalLength)} mm`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** `33.85678° S, 151.20000° E`. */
export function coordinates({ latitude, longitude }) {
  const degrees = (value, [positive, negative]) => `${Math.abs(value).toFixed(5)}° ${value < 0 ? negative : positive}`;
  return `${degrees(latitude, 'NS')}, ${degrees(longitude, 'EW')}`;
}

const rounded = (value) => number(Math.round(value * 10) / 10);

/** A number of bytes for people: `1.2 MB`. */
export function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  const value = count / 1000 ** power;
  return `${value.toFixed(power > 0 && value < 10 ? 1 : 0)} ${units[power]}`;
}

/** The name of an item on one line. */
export const caption = (item) => item.description || item.name || 'Picture';

/** The text of an item for screen readers. */
export const label = (item) =>
  [caption(item), item.author && `by ${item.author}`, item.date && day(item.date)].filter(Boolean).join(', ');
