const SECOND = 1000;

/** What is wrong with an image and why, for people, by the server's code. Another attempt would fail again. */
const FINAL = {
  damaged: ['Damaged file', 'The file is damaged or incomplete. Another copy may be whole.'],
  'not-a-picture': ['Not a picture', 'The file is empty, or contains something else than a picture.'],
  'too-large': ['Too large', 'The picture has more pixels than this gallery can show.'],
  video: ['A film', 'The file has the name of a picture, but contains a film.'],
  'raw-without-preview': ['No preview', 'The camera has stored no preview in this file.'],
  'unsupported-format': ['Unknown format', 'This gallery cannot read pictures of this kind.'],
};
/** The same for failures that may pass. */
const PASSING = {
  'not-found': ['Not there', 'The picture was moved or deleted.'],
  refused: ['Not allowed', 'The gallery may not read this picture.'],
  'server-failed': ['Not reachable', 'The website of this picture has a fault.'],
  unreachable: ['Not reachable', 'The website of this picture does not respond.'],
  'host-closed': ['Not reachable', 'The website of this picture does not respond.'],
  'timed-out': ['Took too long', 'The picture did not arrive in time.'],
  'offline-miss': ['Not stored', 'There is no connection, and the picture is not stored here.'],
};
const BUSY = ['Busy', 'The server has too much to do at the moment.'];
const GONE = ['No connection', 'The server of this gallery does not respond.'];
const UNKNOWN = ['Cannot be shown', 'Something went wrong with this picture.'];

/**
 * Finds out why an image failed, which an image element does not report: `{ what, why, isFinal, pause }`. `pause` is
 * null if a retry makes no sense now, else the milliseconds before it.
 */
export async function diagnose(url) {
  let response;
  try {
    response = await fetch(url);
  } catch {
    return failure(GONE, null);
  }
  if (response.ok) return failure(UNKNOWN, 0);
  const isBusy = response.status === 429 || response.status === 503;
  if (isBusy) return failure(BUSY, (Number(response.headers.get('Retry-After')) || 1) * SECOND);
  const { error } = await response.json().catch(() => ({}));
  return failure(FINAL[error] ?? PASSING[error] ?? UNKNOWN, null, error in FINAL);
}

function failure([what, why], pause, isFinal = false) {
  return { what, why, pause, isFinal };
}
