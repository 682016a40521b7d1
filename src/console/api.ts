/** What the gateway refused, or could not do. `message` is for people, as the API wrote it. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

let csrf: string | null = null;
let onSignedOut: () => void = () => undefined;

/** The session has another token for requests that change something; null without a session. */
export function keepCsrf(token: string | null): void {
  csrf = token;
}

/** Told when the gateway no longer knows who asks. */
export function whenSignedOut(then: () => void): void {
  onSignedOut = then;
}

/** Reads from the API. @param path below `/api` @throws Refused; a TypeError where the gateway does not answer */
export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return send<Answer>('GET', path, undefined, signal);
}

/** Has the API do something, once. @param body JSON, or a form with a file. @throws as `get` */
export function post<Answer>(path: string, body: object = {}): Promise<Answer> {
  return send<Answer>('POST', path, body);
}

/** @throws as `get` */
export function remove<Answer>(path: string): Promise<Answer> {
  return send<Answer>('DELETE', path, undefined);
}

/** The address of a socket of the API, on the gateway that served this page. */
export function socketUrl(path: string): string {
  return `${location.origin.replace(/^http/u, 'ws')}/api${path}`;
}

/** A query string of what is given, without what is empty. */
export function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined && value !== '') given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

async function send<Answer>(method: string, path: string, body: object | undefined, signal?: AbortSignal): Promise<Answer> {
  const headers = new Headers({ accept: 'application/json' });
  if (csrf !== null && method !== 'GET') headers.set('x-csrf-token', csrf);
  if (method !== 'GET') headers.set('idempotency-key', crypto.randomUUID());
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers.set('content-type', 'application/json');
  const response = await fetch(`/api${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
  // Signing in with a wrong password ends no session.
  if (response.status === 401 && !path.startsWith('/session')) onSignedOut();
  throw new Refused(response.status, detailOf(text) ?? `The gateway answered ${response.status}.`);
}

/** The text of a problem document (RFC 9457). */
function detailOf(text: string): string | undefined {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: string; title?: string };
    return detail ?? title;
  } catch {
    return undefined;
  }
}
