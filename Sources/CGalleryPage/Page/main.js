import { Address } from './address.js';
import { Api } from './api.js';
import { Gallery } from './gallery.js';
import { Grid } from './grid.js';
import { Notices } from './notices.js';
import { SearchField } from './search-field.js';
import { Session } from './session.js';
import { ViewportReport } from './viewport-report.js';
import { scale } from './image-size.js';

const find = (id) => document.getElementById(id);

const address = new Address((state) => show(state));
const session = new Session(new Api(), {
  gallery: describe,
  snapshot: (snapshot) => gallery.take(snapshot),
  connection,
  refused: (error) => notices.say(error.message),
});
const notices = new Notices(
  { strip: find('strip'), state: find('state'), foot: find('foot'), count: find('count'), live: find('live') },
  () => session.retry(),
);
const grid = new Grid(
  { space: find('space'), grid: find('grid'), headers: find('headers') },
  { moved },
);
const gallery = new Gallery(session, grid, notices, changed);
const report = new ViewportReport((viewport) => session.reportViewport(viewport));
const field = new SearchField(find('search'), find('query'), search);

let description = { title: document.title };
/** A query whose results are to get an entry of the history. */
let pushed = null;

function describe(gallery) {
  description = gallery;
  notices.gallery = gallery;
  field.hint = gallery.hint;
  find('title').textContent = gallery.title;
  find('order').hidden = gallery.kind !== 'folder';
  entitle();
}

function entitle() {
  const { query } = address.state;
  document.title = query ? `${query} – ${description.title}` : description.title;
}

function search(query, isEntered) {
  if (query === address.state.query) return;
  pushed = query;
  if (isEntered) push(query);
  session.search(query);
}

function push(query) {
  pushed = null;
  address.push({ query, at: 0, open: null });
  gallery.place = 0;
  entitle();
}

/** Shows what the address says, after back or forward. */
function show({ query, order, at }) {
  pushed = null;
  gallery.place = at;
  field.query = query;
  find('order').value = order;
  entitle();
  session.search(query);
  session.order(order);
}

function changed(snapshot) {
  const hasCome = snapshot.state === 'loaded' || snapshot.state === 'empty' || snapshot.count > 0;
  if (pushed !== null && snapshot.query === pushed && hasCome) push(pushed);
}

function connection(isAlive) {
  notices.isAlive = isAlive;
  if (!isAlive) return;
  report.reset();
  grid.retryFailed();
}

function moved(isFling, isMoving) {
  if (gallery.isSkeleton) return;
  const { first, last } = grid;
  gallery.items.setWindow(first, last, isFling);
  address.setPlace(grid.offset > 0 ? first : 0);
  const { layout, form } = grid;
  const { width, height, columns, fit } = layout.cell;
  report.report(
    {
      offset: Math.round(grid.offset),
      height: Math.round(grid.viewportHeight),
      contentTop: 0,
      columns,
      cellWidth: width,
      cellHeight: height,
      spacing: layout.spacing,
      scale: scale(),
      box: form.box,
      fit,
      first,
      last,
    },
    gallery.snapshot.generation,
  );
}

find('order').value = address.state.order;
field.query = address.state.query;
gallery.place = address.state.at;
find('order').addEventListener('change', ({ target }) => {
  address.push({ order: target.value, at: 0, open: null });
  session.order(target.value);
});
new ResizeObserver(() => gallery.relayout()).observe(find('space'));
addEventListener('resize', () => grid.measure());
session.open(address.state.query, address.state.order);
