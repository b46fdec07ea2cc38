const SECOND = 1000;

/**
 * Finds out why an image failed, which an image element does not report. `pause` is null if a retry makes no sense,
 * else the milliseconds before it.
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
