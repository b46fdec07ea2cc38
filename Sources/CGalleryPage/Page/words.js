const numbers = new Intl.NumberFormat('en');
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

export function number(value) {
  return numbers.format(value);
}

/** `1 picture`, `5,312 pictures`. */
export function pictures(count) {
  return `${number(count)} ${count === 1 ? 'picture' : 'pictures'}`;
}

/** A message of the server, which begins without a capital and has no full stop, as a sentence. */
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');
}

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

/** A number of bytes for people: `1.2 MB`. */
export function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  const value = count / 1000 ** power;
  return `${value.toFixed(power > 0 && value < 10 ? 1 : 0)} ${units[power]}`;
}

/** The name of an item on one line. */
export function caption(item) {
  return item.description || item.name || 'Picture';
}

/** The text of an item for screen readers. */
export function label(item) {
  return [caption(item), item.author && `by ${item.author}`, item.date && day(item.date)].filter(Boolean).join(', ');
}
