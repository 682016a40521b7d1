import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { WebhookEndpoint } from '../../config/webhook-endpoints.ts';
import { signedHeaders } from '../../dialog/wire/signature.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { isPublicAddress, publicLookup, resolveName } from '../../kernel/public-address.ts';
import { WebhookRefusedError } from '../errors.ts';

/** How an endpoint took a delivery. */
export interface WebhookAnswer {
  /** Undefined when none came. */
  readonly status: number | undefined;
  /** Why it was no success; undefined when it was one. */
  readonly problem: string | undefined;
}

/**
 * Sends one signed delivery (Standard Webhooks specification). Redirects are not followed: an endpoint that has moved is to
 * be configured anew. The answer's body is not read.
 * @throws WebhookRefusedError for an address that deliveries may not be sent to; the signal's reason when aborted
 */
export async function postWebhook(
  endpoint: Pick<WebhookEndpoint, 'url' | 'secret' | 'allowPrivate'>,
  delivery: { readonly id: string; readonly body: string },
  { clock, timeoutMs, signal }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<WebhookAnswer> {
  signal.throwIfAborted();
  const url = new URL(endpoint.url);
  const host = url.hostname.replaceAll(/^\[|\]$/gu, '');
  const refused = (): WebhookRefusedError => new WebhookRefusedError('the address of a webhook endpoint is not public');
  // An address in numbers is never looked up.
  if (!endpoint.allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw refused();
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort(new Error(`no answer within ${timeoutMs} ms`)));
  const stop = (): void => late.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      agent: false,
      signal: late.signal,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(delivery.body),
        'user-agent': 'offhook',
        ...signedHeaders(endpoint.secret.reveal(), delivery.id, clock.wallMs(), delivery.body),
      },
      ...(endpoint.allowPrivate ? {} : { lookup: publicLookup(resolveName, refused) }),
    });
    request.end(delivery.body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.on('error', () => undefined);
    response.destroy();
    const status = response.statusCode ?? 0;
    return { status, problem: status >= 200 && status < 300 ? undefined : `the endpoint answered ${status}` };
  } catch (error) {
    if (error instanceof WebhookRefusedError) throw error;
    signal.throwIfAborted();
    return { status: undefined, problem: late.signal.aborted ? `no answer within ${timeoutMs} ms` : errorText(error) };
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', stop);
  }
}
