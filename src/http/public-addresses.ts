import type { AddressInfo } from 'node:net';

/**
 * The base addresses that carriers may have been given for this gateway, without a trailing slash; the first one goes
 * into answers. Never taken from a request, whose headers anyone can write.
 * @param publicUrl as configured; unset: the loopback forms of the port listened on
 */
export function publicAddresses(publicUrl: string | undefined, listening: AddressInfo | string | null): readonly string[] {
  const configured = configuredAddress(publicUrl);
  if (configured !== undefined) return [configured];
  if (listening === null || typeof listening === 'string') return ['http://127.0.0.1'];
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:${listening.port}`);
}

/** The address that was configured, if one was, without a trailing slash. */
export function configuredAddress(publicUrl: string | undefined): string | undefined {
  return publicUrl?.replace(/\/+$/, '');
}

/** The WebSocket form of an http or https address. */
export function socketAddress(address: string): string {
  return address.replace(/^http/i, 'ws');
}

/** Whether a request came from this machine itself and was not passed on by a proxy on it. */
export function isLocal(remoteAddress: string | undefined, headers: Readonly<Record<string, unknown>>): boolean {
  const loopback = remoteAddress !== undefined && /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/.test(remoteAddress);
  return loopback && !wasPassedOn(headers);
}

/** Whether a proxy says that it passed a request on. One that a client could have written as well. */
export function wasPassedOn(headers: Readonly<Record<string, unknown>>): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-real-ip'].some((name) => headers[name] !== undefined);
}

/** A request's path as logs may show it: no query, no stream token, no callee. */
export function redactUrl(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.replace(/(\/carriers\/[^/]*\/(?:stream|document\/[^/]*)\/).+/i, '$1[token]').slice(0, 300);
}
