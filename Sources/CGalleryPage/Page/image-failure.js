const SECOND = 1000;

/**
 * Why an image did not come, which an image element does not tell. `pause` is null if it makes no sense to ask again,
 * and else the milliseconds after which to.
 */
export async function diagnose(url) {
  let response;
  try {
    response = await fetch(url);
  } catch {
    return { reason: 'The server does not respond.', pause: null };
  }
  if (response.ok) return { reason: 'This picture cannot be shown.', pause: 0 };
  const { message } = await response.json().catch(() => ({}));
  const isBusy = response.status === 429 || response.status === 503;
  return {
    reason: message ?? 'This picture cannot be shown.',
    pause: isBusy ? (Number(response.headers.get('Retry-After')) || 1) * SECOND : null,
  };
}
