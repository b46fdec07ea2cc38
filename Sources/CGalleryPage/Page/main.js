import { Address } from './address.js';
import { Albums } from './albums.js';
import { Api } from './api.js';
import { Density, choices } from './density.js';
import { Gallery } from './gallery.js';
import { Grid } from './grid.js';
import { scale } from './image-size.js';
import { GridKeyboard, gridKey } from './keyboard.js';
import { Notices, Toast } from './notices.js';
import { Scrubber } from './scrubber.js';
import { SearchField } from './search-field.js';
import { Selection } from './selection.js';
import { Session, ViewportReport } from './session.js';
import { offerShortcuts, openDownload, openSharing } from './sheets.js';
import { Viewer } from './viewer.js';
import { caption, number, pictures, sentence } from './words.js';

const find = (id) => document.getElementById(id);
const all = (...ids) => Object.fromEntries(ids.map((id) => [id, find(id)]));

const address = new Address(show);
const session = new Session(new Api(), {
  gallery: describe,
  snapshot: (snapshot) => gallery.take(snapshot),
  connection,
  revived: requestAgain,
  refused: (error) => tell(sentence(error.message)),
});
const notices = new Notices(
  all('strip', 'state', 'foot', 'count', 'hidden', 'live'),
  { retry: () => session.retry(), showHidden },
);
const grid = new Grid(all('space', 'grid', 'headers'), { moved });
const gallery = new Gallery(session, grid, notices, changed);
const scrubber = new Scrubber(find('scrubber'), grid);
const albums = new Albums(find('albums'), session, {
  title: () => description.title,
  link: (album) => address.linkToAlbum(album),
  load: (covers) => grid.loader.wantBehind(covers),
  go(album) {
    address.push({ album, at: 0, open: null });
    gallery.place = 0;
    entitle();
    session.want({ album });
  },
  changed() {
    const { offset } = grid;
    grid.measure();
    if (offset > 0) grid.jumpTo(offset);
    grid.invalidate();
  },
});
const toast = new Toast(find('toast'));
const viewer = new Viewer(find('viewer'), gallery, grid, {
  opened: (id) => {
    toast.moveTo(viewer.element);
    if (address.state.open !== id) address.push({ open: id });
  },
  moved: (id) => address.replace({ open: id }),
  closed: () => {
    if (address.isOpenPushed) return history.back();
    address.replace({ open: null });
    close();
  },
  hide: (item) => item && hide([item]),
  download,
  tell,
});
const selection = new Selection(
  { cells: find('grid'), bar: find('selection'), select: find('select') },
  grid,
  gallery,
  {
    share: (items) => openSharing(find('sharing'), session, items.map(({ item }) => item.id)),
    download: (items) => openDownload(find('downloading'), session, items.map(({ item }) => item), gallery.count),
    hide,
    tell,
  },
);
const report = new ViewportReport((viewport) => session.reportViewport(viewport));
const field = new SearchField(find('search'), find('query'), search);

let description = { title: document.title, hint: 'Search' };
/** An item in the address, which is enlarged when it has arrived. */
let wantedItem = null;
/** An item to show again, if the enlarged view is open. */
let undone = null;
let shownItems = null;
/** A query whose results get an entry of the history. */
let pushed = null;
/** Whether the present entry is of a query that is still being typed: the next results take its place. */
let isTyped = false;

function describe(gallery) {
  description = gallery;
  notices.gallery = gallery;
  field.isQuick = gallery.kind === 'folder';
  find('title').textContent = gallery.title;
  find('order').hidden = gallery.kind !== 'folder';
  find('selection').querySelector('.share').hidden = !gallery.shares;
  find('selection').querySelector('.download').hidden = gallery.kind !== 'folder';
  document.documentElement.dataset.kind = gallery.kind;
  document.documentElement.toggleAttribute('data-guest', gallery.isGuest === true);
  entitle();
}

function entitle() {
  const { album, query } = address.state;
  const name = album.split('/').at(-1);
  document.title = [query, name, description.title].filter(Boolean).join(' – ');
  field.hint = album ? `Search in ${name}` : description.hint;
}

function search(query, isEntered) {
  if (query === address.state.query) return;
  pushed = query;
  if (isEntered) push(query, true);
  session.want({ query });
}

function push(query, isEntered) {
  pushed = null;
  if (viewer.isOpen) close();
  address[isTyped ? 'replace' : 'push']({ query, at: 0, open: null });
  isTyped = !isEntered && document.activeElement === find('query');
  gallery.place = 0;
  entitle();
}

/** Shows the state in the address, after back or forward. */
function show({ album, query, order, at, open }, former) {
  pushed = null;
  isTyped = false;
  if (query === former.query && order === former.order && album === former.album) {
    // Only the enlarged view was opened or closed: the grid stays where it is.
    address.setPlace(grid.offset > 0 ? grid.first : 0);
    if (open) viewer.openItem(open);
    else close();
    return;
  }
  close();
  wantedItem = open;
  gallery.place = at;
  field.query = query;
  find('order').value = order;
  entitle();
  session.want({ album, query, order });
}

function close() {
  toast.moveTo(document.body);
  viewer.close();
}

function changed(snapshot) {
  albums.show(snapshot);
  const hasCome = snapshot.state === 'loaded' || snapshot.state === 'empty' || snapshot.count > 0;
  if (pushed !== null && snapshot.query === pushed && hasCome) push(pushed);
  if (wantedItem && snapshot.count > address.state.at && snapshot.query === address.state.query) {
    const id = wantedItem;
    wantedItem = null;
    viewer.openItem(id).then((isThere) => {
      // Newer results follow, unless the user has gone elsewhere.
      if (isThere === null && address.state.open === id) wantedItem = id;
      if (isThere !== false) return;
      tell('That picture is not here any more.');
      address.replace({ open: null });
    });
  }
  if (gallery.items !== shownItems) {
    shownItems = gallery.items;
    selection.follow();
    viewer.refresh(undone ?? undefined);
    undone = null;
  }
}

function tell(text, options) {
  toast.show(text, { host: viewer.isOpen ? viewer.element : document.body, ...options });
}

/** Hides items; returns whether all are hidden. */
async function hide(items) {
  if (description.isGuest) return false;
  const hidden = await session.hide(items.map(({ id }) => id));
  if (hidden.length === 0) return false;
  const isWhole = hidden.length === items.length;
  const last = items[hidden.length - 1];
  // Including those of the current message: one Undo restores all of them.
  const ids = [...(toast.subject ?? []), ...hidden];
  const whole = ids.length === 1 ? `“${caption(last)}” is hidden.` : `${pictures(ids.length)} are hidden.`;
  tell(isWhole ? whole : `Only ${number(hidden.length)} of ${pictures(items.length)} are hidden.`, {
    label: 'Undo',
    action: () => {
      undone = last.id;
      session.undo(ids);
    },
    subject: ids,
  });
  return isWhole;
}

/** Shows all hidden items of these results again. */
async function showHidden() {
  const shown = await session.undo();
  if (!shown) return;
  if (gallery.count > 0) grid.focus(grid.active);
  tell(`${pictures(shown.ids.length)} shown again.`, { label: 'Undo', action: () => session.hide(shown.ids) });
}

/** The use is reported to a photo service before a download of its image begins, as its terms require. */
async function download(item, event) {
  if (description.kind !== 'search' || event.isTrusted === false) return;
  event.preventDefault();
  const link = event.currentTarget;
  await session.use(item.id);
  link.click();
}

function connection(isAlive) {
  notices.isAlive = isAlive;
  if (isAlive) requestAgain();
}

/** Requests anew what is missing, and what waits for a connection. */
function requestAgain() {
  report.reset();
  grid.retryAll();
  viewer.retry();
}

function moved(isFling, isMoving) {
  scrubber.update();
  if (isMoving) scrubber.wake();
  selection.mark();
  if (gallery.isSkeleton) return;
  const { first, last } = grid;
  grid.items.setWindow(first, last, isFling);
  if (gallery.place === 0) address.setPlace(grid.offset > 0 ? first : 0);
  const { cell, spacing } = grid.layout;
  const { width: cellWidth, height: cellHeight, columns, fit } = cell;
  const [offset, height] = [grid.offset, grid.viewportHeight].map(Math.round);
  const cells = { columns, cellWidth, cellHeight, spacing, scale: scale(), box: grid.form.box, fit, first, last };
  report.report({ offset, height, ...cells }, gallery.snapshot.generation);
}

/** The item of a cell that was clicked, and the cell. */
function clicked({ target }) {
  const { cell } = target.closest('.cell') ?? {};
  return cell?.item ? cell : null;
}

find('grid').addEventListener('click', (event) => {
  const cell = clicked(event);
  if (!cell) return;
  if (selection.takes(event, cell)) grid.setActive(cell.index);
  else if (event.ctrlKey || event.metaKey) openTab(cell);
  // The second click of two may be on what the first one has uncovered.
  else if (event.detail < 2) open(cell);
});
find('grid').addEventListener('auxclick', (event) => {
  const cell = clicked(event);
  if (cell && event.button === 1) openTab(cell);
});

function open(cell) {
  grid.setActive(cell.index);
  if (cell.state === 'failed' && !cell.isFinal) grid.retry(cell);
  else viewer.open(cell.index);
}

function openTab({ item, index }) {
  window.open(address.linkTo(item.id, index), '_blank', 'noopener');
}

offerShortcuts(find('shortcuts'), find('help'));
addEventListener('keydown', (event) => {
  if (gridKey(event) !== 'f') return;
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.().catch(() => {});
});

new GridKeyboard(find('grid'), grid, {
  open: (index) => {
    const cell = grid.cellOf(index);
    if (cell?.item) open(cell);
  },
  hide: (index) => {
    if (selection.items.length) selection.hide();
    else if (!selection.isAll && gallery.items.at(index)) hide([gallery.items.at(index)]);
  },
  select: (index) => selection.toggle(index),
  extend: (index) => selection.extend(index),
});

/** The storage key of the choice between squares and rows. */
const LAYOUT = 'layout';

function setJustified(isJustified) {
  find('rows').ariaPressed = isJustified;
  gallery.arrange({ isJustified });
}

find('rows').addEventListener('click', () => {
  const isJustified = find('rows').ariaPressed !== 'true';
  setJustified(isJustified);
  choices.set(LAYOUT, isJustified ? 'rows' : 'squares');
});
setJustified(choices.get(LAYOUT) === 'rows');
new Density(find('content'), (enlargement) => gallery.arrange({ enlargement }));

find('query').addEventListener('change', () => (isTyped = false));
find('order').value = address.state.order;
find('order').addEventListener('change', ({ target }) => {
  address.push({ order: target.value, at: 0, open: null });
  session.want({ order: target.value });
});

// A user who scrolls must not be moved elsewhere.
for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
  addEventListener(type, () => (gallery.place = 0), { passive: true, capture: true });
}

let width = grid.width;
new ResizeObserver(() => {
  if (grid.width === width) return;
  width = grid.width;
  gallery.relayout();
}).observe(find('space'));
addEventListener('resize', () => {
  grid.measure();
  scrubber.measure();
  grid.invalidate();
});

field.query = address.state.query;
gallery.place = address.state.at;
wantedItem = address.state.open;
session.open(address.state);
