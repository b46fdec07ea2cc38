/**
 * The script of the pages that `thumbs site` writes. The modules that show enlarged images are put before it, in one
 * script, as files may not load modules. What they import of two others, which ask a server, is here.
 */
const savesData = () => navigator.connection?.saveData === true;
const enlargedBox = () => 'view';
// No windows of originals are requested.
const LARGEST = Infinity;
const imageAddress = (addresses, box) => addresses[box];
const diagnose = async () => ({ what: 'Cannot be shown', why: 'The file of this picture is missing.', pause: null });

/** The folder of the site. */
const root = new URL('../', document.currentScript.src);
/** The images that a search shows at once. */
const PORTION = 200;
/** The letters of a word that begins a month or a year. */
const LEAST_LETTERS = 3;

/** The item of the enlarged view that a link to an image stands for. */
function itemOf(link) {
  const figure = link.closest('figure');
  const [view, pixels] = [link.dataset.size, link.dataset.pixels].map((text) => {
    const [width, height] = (text ?? '').split('x').map(Number);
    return { width, height };
  });
  const { src: grid, alt: name } = link.firstElementChild;
  const { taken, source: dateSource } = link.dataset;
  const [key, details] = [{ grid, view: link.href }, { taken }];
  const download = figure.querySelector('figcaption a')?.href;
  const date = taken.slice(0, 10);
  return { id: figure.id, key, name, ...view, pixels, date, dateSource, details, download };
}

/** Shows images enlarged. The fragment of the address is the identifier of the one that is shown. */
function enlarge(links) {
  const items = links.map(itemOf);
  document.body.insertAdjacentHTML('beforeend', dialogMarkup);
  const dialog = document.getElementById('viewer');
  dialog.querySelector('.hide').hidden = true;
  const gallery = { count: items.length, snapshot: {}, items: { load() {}, at: (index) => items[index] } };
  const grid = { form: { box: 'grid', fit: 'contain' }, setActive() {}, reveal() {}, focus: (at) => links[at].focus() };
  const viewer = new Viewer(dialog, gallery, grid, {
    moved: (id) => history.replaceState(history.state, '', `#${id}`),
    closed() {
      if (history.state) return history.back();
      history.replaceState(null, '', location.href.split('#')[0]);
      viewer.close();
    },
    ...{ opened() {}, tell() {}, hide() {}, download() {} },
  });
  const follow = () => {
    const index = items.findIndex(({ id }) => `#${id}` === location.hash);
    return index < 0 ? viewer.close() : viewer.open(index);
  };
  for (const [index, link] of links.entries()) {
    link.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState('open', '', `#${items[index].id}`);
      follow();
    });
  }
  addEventListener('popstate', follow);
  follow();
}

/** Searches names, albums, months and cameras of all images, in an index that is a script, as files may not fetch. */
function search() {
  const pages = document.querySelectorAll('[role=main], header ~ nav');
  document.querySelector('header').insertAdjacentHTML(
    'afterend',
    `<div role="search"><input type="search" placeholder="Search" aria-label="Search all albums"></div>
    <div role="main" hidden><p role="status"></p><div class="photos"></div><button>More</button></div>`,
  );
  const [input, results] = ['input', '[role=main][hidden]'].map((name) => document.querySelector(name));
  const [status, photos, more] = results.children;
  let [found, index] = [[], null];
  // As the server's SearchText and FoldedPaths do it.
  const pairs = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa', æ: 'ae' };
  const strokes = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ƶ: 'z' };
  const folded = (text) => text.normalize('NFKD').replace(/[\u0300-\u036f]/gu, '').toUpperCase().toLowerCase()
    .replace(/[øłđħŧƶ]/gu, (letter) => strokes[letter]);
  const paired = (text) => folded(text.normalize('NFKC').toLowerCase().replace(/[äöüøåæ]/gu, (letter) => pairs[letter]));
  const show = () => {
    const words = input.value.normalize('NFKC').split(/\s+/u).filter(Boolean).map((word) => {
      const [, year = '', month = ''] = /^(\d{4})[-./](\d\d?)$/.exec(word.replace(/^(\d\d?)[-./](\d{4})$/, '$2-$1')) ?? [];
      const plain = folded(word);
      return { plain, paired: paired(word), part: month > 0 ? `${year}-${month.padStart(2, 0)}` : plain };
    });
    results.hidden = words.length === 0;
    for (const page of pages) page.hidden = words.length > 0 && index !== null;
    const isMeant = ({ text, also, camera, parts, months }) => {
      const isPart = (word) => parts.some((part) => part.startsWith(word) && word.length >= LEAST_LETTERS)
        || months.some((month) => month === word || month.startsWith(word) && word.length > LEAST_LETTERS);
      const isIn = ({ plain, paired }) => text.includes(plain) || text.includes(paired)
        || !/[aou]e$/.test(plain) && also.includes(plain)
        || camera.includes(plain);
      return words.every((word) => isIn(word) || isPart(word.part));
    };
    found = index?.filter(isMeant) ?? [];
    status.textContent = index ? `${number(found.length)} found` : 'Searching…';
    photos.replaceChildren();
    add();
  };
  // Each text is folded once, not at each key.
  const loaded = () => {
    index = window.searchIndex.flatMap((album) => album.pictures.map((picture) => {
      const text = `${album.name.replaceAll(' / ', '/')}/${picture.name}`;
      const [month, year] = folded(picture.month).split(' ');
      const number = searchedMonths.findIndex((names) => names.startsWith(month));
      const parts = [month, `${year}-${`${number + 1}`.padStart(2, 0)}`];
      const months = searchedMonths[number].split(' ');
      return { album, picture, text: folded(text), also: paired(text), camera: folded(picture.camera), parts, months };
    }));
    show();
  };
  const add = () => {
    photos.append(...found.splice(0, PORTION).map(cell));
    more.hidden = found.length === 0;
  };
  const cell = ({ album, picture }) => {
    const figure = document.createElement('figure');
    figure.innerHTML = '<div class="cell"><a><img loading="lazy"></a></div><figcaption><bdi></bdi></figcaption>';
    figure.querySelector('a').href = `${root}${album.path}${picture.page}#${picture.image}`;
    const image = figure.querySelector('img');
    hideFailure(image);
    Object.assign(image, { src: `${root}${album.path}${picture.image}`, alt: picture.name });
    figure.querySelector('bdi').textContent = [album.name, picture.name].filter(Boolean).join(' / ');
    return figure;
  };
  input.addEventListener('input', show);
  more.addEventListener('click', () => {
    const shown = photos.childElementCount;
    add();
    photos.children[shown].querySelector('a').focus();
  });
  const missing = () => {
    status.textContent = 'The search of this site is missing.';
  };
  const source = { src: `${root}site-files/search.js`, onload: loaded, onerror: missing };
  const script = Object.assign(document.createElement('script'), source);
  const load = () => script.isConnected || document.head.append(script);
  input.addEventListener('focus', load);
  // After the way back, browsers keep the word.
  addEventListener('pageshow', () => input.value && load());
}

addEventListener('DOMContentLoaded', () => {
  for (const image of document.querySelectorAll('.cell img')) {
    hideFailure(image);
    // It has failed before this script began.
    if (image.complete && !image.naturalWidth) image.onerror();
  }
  enlarge([...document.querySelectorAll('a[data-size]')]);
  search();
});
