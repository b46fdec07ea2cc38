import { cover } from './address.js';
import { element, number, pictures, sentence } from './words.js';

const time = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium' });
const at = (seconds) => time.format(seconds * 1000);
/** Opens the sheet of a template over whatever is open. It is in the document until it closes. */
function openSheet(template) {
  const sheet = template.content.firstElementChild.cloneNode(true);
  // Within a picture that fills the screen, nothing outside of it would be seen.
  (document.fullscreenElement ?? document.body).append(sheet);
  sheet.querySelector('.close').addEventListener('click', () => sheet.close());
  sheet.addEventListener('keydown', (event) => event.stopPropagation());
  const ended = cover(() => sheet.close());
  sheet.addEventListener('close', () => {
    sheet.remove();
    ended();
  });
  sheet.showModal();
  return sheet;
}

/** Shows the sheet of shortcuts at a click on a button, or when `?` is pressed. */
export function offerShortcuts(template, button) {
  button.addEventListener('click', show);
  addEventListener('keydown', (event) => {
    const isTyping = event.target.closest?.('input, select, textarea');
    if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    show();
  });

  function show() {
    if (document.getElementById('shortcuts-title')) return;
    const sheet = openSheet(template);
    sheet.addEventListener('click', ({ target }) => target === sheet && sheet.close());
  }
}

/** Downloads items, or all `count` that are shown, as one zip. */
export function openDownload(template, session, items, count) {
  const sheet = openSheet(template);
  const { scope } = sheet.querySelector('form').elements;
  const [status, button] = ['[role=status]', '[type=submit]'].map((name) => sheet.querySelector(name));
  if (items.length) scope.add(new Option(`${pictures(items.length)} that you selected`, 'keys'));
  scope.add(new Option(`All ${pictures(count)} shown here`, ''));
  sheet.addEventListener('submit', async (event) => {
    event.preventDefault();
    const keys = scope.value ? items.map(({ key }) => key) : undefined;
    status.textContent = 'Preparing…';
    button.disabled = true;
    try {
      const { path, missing } = await session.zip({ keys });
      element('a', '', { href: path, download: '' }).click();
      status.textContent = missing ? `Without ${pictures(missing)}: the files are not there any more.` : 'It has begun.';
    } catch ({ message }) {
      status.textContent = sentence(message);
    }
    button.disabled = false;
  });
}

/** Makes links to selected pictures (`ids`, paths of files), if any, or to the folder that they are in, and ends links. */
export function openSharing(template, session, ids) {
  const sheet = openSheet(template);
  const [status, table] = ['[role=status]', 'table'].map((name) => sheet.querySelector(name));
  const { scope, days, link } = sheet.querySelector('form').elements;
  // The link is that of the choices that are seen: responses to earlier ones are ignored.
  let turn = 0;
  const show = (text, address = '') => {
    turn += 1;
    link.value = address;
    link.parentElement.hidden = !address;
    status.textContent = text;
    if (address) {
      link.focus();
      link.select();
    }
    return turn;
  };
  const fail = ({ message }) => show(sentence(message));
  const option = (label, content) => scope.add(Object.assign(new Option(label), { content }));
  const folders = new Set(ids.map(folderOf));
  const [folder] = folders;
  option(ids.length ? `${pictures(ids.length)} that you selected` : 'Select pictures first', { ids });
  sheet.querySelector('[type=submit]').disabled = ids.length === 0;
  if (folder && folders.size === 1) option(`All of “${folder}”, also what is added`, { folder });
  sheet.addEventListener('change', () => show(''));
  sheet.addEventListener('submit', async (event) => {
    event.preventDefault();
    const own = show('');
    try {
      const made = await session.link({ ...scope.selectedOptions[0].content, days: Number(days.value) });
      if (own !== turn) return;
      const address = new URL(made.path, location.href);
      // Nobody else reaches this machine by these names.
      if (made.host && /^(localhost|127\.|\[::1)/.test(address.hostname)) address.hostname = made.host;
      show(`All who have the link see these pictures until ${at(made.until)}.`, address.href);
      list();
    } catch (error) {
      if (own === turn) fail(error);
    }
  });
  list();

  /** Lists the links, each with a button that ends it. What was just said stays. */
  async function list() {
    const { links = [], message } = await session.links().catch((error) => error);
    table.hidden = links.length === 0 && !message;
    table.tBodies[0].replaceChildren(...links.map(rowOf));
    if (message) table.tBodies[0].insertRow().insertCell().textContent = `Your links cannot be listed: ${message}`;
  }

  function rowOf({ id, folder: path, count, name, made, until }) {
    const what = `“${path ?? name}”${count > 1 ? ` and ${number(count - 1)} more` : ''}`;
    const row = element('tr');
    const button = element('button', 'End', { ariaLabel: `End the link to ${what}` });
    button.addEventListener('click', async () => {
      await session.endLink(id).catch(fail);
      await list();
      sheet.querySelector('td button, .close').focus();
    });
    row.insertCell().textContent = `${what}${made ? `, made ${at(made)}` : ''}, until ${at(until)}`;
    row.insertCell().append(button);
    return row;
  }
}

/** The folder of a path, empty for the gallery's own. A path that is not UTF-8 is encoded behind two slashes. */
function folderOf(id) {
  const isEncoded = id.startsWith('//');
  const folder = id.slice(isEncoded ? 2 : 0, Math.max(0, id.lastIndexOf('/')));
  try {
    return isEncoded ? decodeURIComponent(folder) : folder;
  } catch {
    return `//${folder}`;
  }
}
