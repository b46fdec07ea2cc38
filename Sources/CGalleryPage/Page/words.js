const numbers = new Intl.NumberFormat('en');
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

/** An element with a text, and other properties. */
export function element(name, text = '', properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

export const number = (value) => numbers.format(value);

/** `1 picture`, `5,312 pictures`, `3 pictures and 1 film`. `films` of them are films. */
export function pictures(count, films = 0) {
  const counted = (value, name) => `${number(value)} ${name}${value === 1 ? '' : 's'}`;
  if (!films) return counted(count, 'picture');
  return (count > films ? `${counted(count - films, 'picture')} and ` : '') + counted(films, 'film');
}

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
  film: 'from the film',
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

/** Whether an item is a film, and not a picture with one. */
export const isFilm = ({ film, isLive }) => Boolean(film && !isLive);

/** The running time of a film, of less than a day: `1:02:07`, `0:42`. */
export function duration(seconds) {
  const time = new Date(Math.min(Math.round(seconds), 86_399) * 1000).toISOString().slice(11, 19);
  return time.replace(/^00:0?|^0/, '');
}

/** What an item is other than a picture, in the corner of its cell. */
export function kind(item) {
  if (!item.film) return '';
  return item.isLive ? 'Live' : item.seconds ? duration(item.seconds) : 'Film';
}

/** The text of an item for screen readers. */
export function label(item) {
  const film = item.film && (item.isLive ? 'Live Photo' : `film${item.seconds ? ` of ${duration(item.seconds)}` : ''}`);
  return [caption(item), film, item.author && `by ${item.author}`, item.date && day(item.date)].filter(Boolean).join(', ');
}
