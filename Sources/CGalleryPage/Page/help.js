// The form of the help page: builds the address of a thumbnail, and shows the thumbnail.

const field = (id) => document.getElementById(id);
const form = field('build');
const address = field('address');
const result = field('result');
const preview = field('preview');
const copy = field('copy');

// A URL is one part of the path; a path keeps its slashes.
function encodedSource(source) {
  if (/^https?:\/\//i.test(source)) return encodeURIComponent(source);
  return source.split('/').map(encodeURIComponent).join('/');
}

function options() {
  const [width, height] = [field('width').value, field('height').value];
  const parts = [];
  if (width || height) parts.push(`${width}x${height}`);
  for (const id of ['fit', 'gravity', 'format']) if (field(id).value) parts.push(field(id).value);
  for (const [name, id] of [['q', 'quality'], ['dpr', 'density'], ['background', 'background']]) {
    if (field(id).value) parts.push(`${name}=${field(id).value}`);
  }
  if (field('enlarge').checked) parts.push('enlarge');
  return parts.join(',');
}

function build() {
  const source = field('source').value.trim();
  address.value = source ? `/thumb/${options()}/${encodedSource(source)}` : '';
  copy.hidden = !source || !navigator.clipboard;
}

let shown = 0;

async function show() {
  build();
  if (!address.value) return;
  const number = ++shown;
  result.textContent = 'Loading …';
  try {
    const response = await fetch(address.value);
    const blob = response.ok ? await response.blob() : null;
    const problem = response.ok ? null : await response.json().catch(() => null);
    if (number !== shown) return;
    URL.revokeObjectURL(preview.src);
    preview.hidden = !blob;
    if (blob) preview.src = URL.createObjectURL(blob);
    result.textContent = blob
      ? `${blob.type}, ${blob.size.toLocaleString()} bytes`
      : `${response.status}: ${problem?.message ?? 'no thumbnail could be made'}`;
  } catch {
    if (number === shown) result.textContent = 'The server cannot be reached.';
  }
}

form.addEventListener('input', build);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  show();
});
copy.addEventListener('click', async () => {
  await navigator.clipboard.writeText(new URL(address.value, location.href).href);
  result.textContent = 'Copied.';
});
build();
