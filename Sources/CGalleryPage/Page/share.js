import { pictures, sentence } from './words.js';

const ends = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short' });

/** Makes links to selected pictures, or to the folder that they are in. The dialog is there while it is open. */
export class ShareDialog {
  #template;
  #session;
  #form;
  /** The link is that of the choices that are seen: responses to earlier ones are ignored. */
  #turn = 0;

  constructor(template, session) {
    this.#template = template;
    this.#session = session;
  }

  /** `ids` are paths of files. */
  open(ids) {
    const dialog = this.#template.content.firstElementChild.cloneNode(true);
    this.#form = dialog.querySelector('form');
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#make();
    });
    this.#form.addEventListener('change', () => this.#clear());
    dialog.querySelector('.close').addEventListener('click', () => dialog.close());
    dialog.addEventListener('keydown', (event) => event.stopPropagation());
    dialog.addEventListener('close', () => dialog.remove());
    const folders = new Set(ids.map(folderOf));
    const [folder] = folders;
    const { scope } = this.#form.elements;
    const option = (label, content) => Object.assign(new Option(label), { content });
    scope.replaceChildren(option(`${pictures(ids.length)} that you selected`, { ids }));
    if (folder && folders.size === 1) scope.add(option(`All of “${folder}”, also what is added`, { folder }));
    this.#clear();
    document.body.append(dialog);
    dialog.showModal();
  }

  async #make() {
    this.#turn += 1;
    const turn = this.#turn;
    const show = (...result) => turn === this.#turn && this.#show(...result);
    const { scope, days } = this.#form.elements;
    const { content } = scope.selectedOptions[0];
    try {
      const { path, host, until } = await this.#session.link({ ...content, days: Number(days.value) });
      const link = new URL(path, location.href);
      // Nobody else reaches this machine by these names.
      if (host && /^(localhost|127\.|\[::1)/.test(link.hostname)) link.hostname = host;
      show(`Whoever has the link sees these pictures until ${ends.format(until * 1000)}.`, link.href);
    } catch (error) {
      show(sentence(error.message));
    }
  }

  #clear() {
    this.#turn += 1;
    this.#show('');
  }

  #show(text, link = '') {
    const input = this.#form.querySelector('input');
    input.value = link;
    input.parentElement.hidden = !link;
    this.#form.querySelector('p').textContent = text;
    if (!link) return;
    input.focus();
    input.select();
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
