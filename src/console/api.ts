/** What the gateway refused, or could not do. `message` is for people, as the API wrote it. */
export class Refused extends Error {
  readonly status: number;
  /** Fields of the body that were wrong, by their path such as `attempts.most`. */
  readonly issues: readonly Issue[];

  constructor(status: number, message: string, issues: readonly Issue[] = []) {
    super(message);
    this.status = status;
    this.issues = issues;
  }
}

export interface Issue {
  readonly path: string;
  readonly message: string;
}

let csrf: string | null = null;
let onSignedOut: () => void = () => undefined;

/** The session has another token for requests that change something; null without a session. */
export function keepCsrf(token: string | null): void {
  csrf = token;
}

/** Called when the gateway does not know the session any longer. */
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

/** Sets what is at a path. @throws as `get` */
export function put<Answer>(path: string, body: object): Promise<Answer> {
  return send<Answer>('PUT', path, body);
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
  throw refusedBy(path, response.status, text);
}

/**
 * Sends a file in the part `file` of a form.
 * @param onSent called with the share sent so far, 0 to 1
 * @throws as `get`
 */
export function upload<Answer>(path: string, file: Blob, name: string, onSent: (share: number) => void): Promise<Answer> {
  const form = new FormData();
  form.set('file', file, name);
  // A fetch tells nothing of how far its body has gone.
  const request = new XMLHttpRequest();
  request.open('POST', `/api${path}`);
  request.setRequestHeader('accept', 'application/json');
  request.setRequestHeader('idempotency-key', crypto.randomUUID());
  if (csrf !== null) request.setRequestHeader('x-csrf-token', csrf);
  request.upload.addEventListener('progress', ({ loaded, total }) => onSent(total === 0 ? 1 : loaded / total));
  return new Promise((resolve, reject) => {
    request.addEventListener('error', () => reject(new TypeError('the gateway does not answer')));
    request.addEventListener('load', () => {
      const { status, responseText } = request;
      if (status >= 200 && status < 300) resolve(JSON.parse(responseText) as Answer);
      else reject(refusedBy(path, status, responseText));
    });
    request.send(form);
  });
}

function refusedBy(path: string, status: number, text: string): Refused {
  // Signing in with a wrong password ends no session.
  if (status === 401 && !path.startsWith('/session')) onSignedOut();
  const { detail, title, issues } = problemOf(text);
  return new Refused(status, detail ?? title ?? `The gateway answered ${status}.`, issues);
}

/** A problem document (RFC 9457). */
function problemOf(text: string): { readonly detail?: string; readonly title?: string; readonly issues?: readonly Issue[] } {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}
