import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { WebhookEndpoint } from '../../config/webhook-endpoints.ts';
import { signedHeaders } from '../../dialog/wire.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { isPublicAddress, publicLookup, resolveName } from '../../kernel/public-address.ts';
import { WebhookRefusedError, JobSubjectError, WebhookFailedError } from '../errors.ts';
import type { Store } from '../port.ts';
import type { JobHandler } from '../queue/port.ts';
import type { WebhookDispatcher } from './webhook-dispatcher.ts';

const subject = z.object({ tenantId: z.string().min(1), id: z.string().min(1) });

export interface DeliverParts {
  readonly store: Pick<Store, 'webhooks'>;
  readonly dispatcher: WebhookDispatcher;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** The job of the `webhooks` queue: one delivery attempt, whose result the store keeps. */
export function deliverWebhook({ store, dispatcher, clock, timeoutMs }: DeliverParts): JobHandler {
  return async (run) => {
    const parsed = subject.safeParse(run.payload);
    if (!parsed.success) throw new JobSubjectError(`not a delivery: ${z.prettifyError(parsed.error)}`, false, {});
    const { tenantId, id } = parsed.data;
    const delivery = await store.webhooks.get(tenantId, id);
    // Erased with its call, or delivered by another that was faster.
    if (delivery === undefined || delivery.state === 'delivered') return;
    const tried = (state: 'pending' | 'delivered' | 'failed', status: number | undefined, reason: string | undefined) =>
      store.webhooks.tried({ tenantId, id }, { state, status, reason, atMs: clock.wallMs() });

    const endpoint = dispatcher.endpoint(tenantId, delivery.endpoint);
    if (endpoint === undefined) {
      await tried('failed', undefined, 'its endpoint is not configured any more');
      throw new JobSubjectError('the endpoint of a delivery is not configured any more', false, { endpoint: delivery.endpoint });
    }
    const sent = { id, body: JSON.stringify(delivery.body), headers: traceHeaders(delivery.callId) };
    try {
      const { status, problem } = await postWebhook(endpoint, sent, { clock, timeoutMs, signal: run.signal });
      if (problem === undefined) {
        await tried('delivered', status, undefined);
        return;
      }
      // 410: the endpoint wants no more of them (Standard Webhooks specification, "Deliverability and reliability").
      const isOver = run.isLast || status === 410;
      await tried(isOver ? 'failed' : 'pending', status, problem);
      throw new WebhookFailedError(`a delivery failed: ${problem}`, status !== 410, { status, endpoint: endpoint.name });
    } catch (error) {
      if (error instanceof WebhookRefusedError) await tried('failed', undefined, errorText(error));
      throw error;
    }
  };
}

/** Sends a signed test event, whose call is nobody's. Never rejects. */
export async function testWebhook(
  endpoint: Pick<WebhookEndpoint, 'url' | 'secret' | 'allowPrivate' | 'tenantId'>,
  { clock, timeoutMs }: Pick<DeliverParts, 'clock' | 'timeoutMs'>,
): Promise<WebhookAnswer> {
  const timestamp = new Date(clock.wallMs()).toISOString();
  const body = JSON.stringify({ type: 'webhook.test', timestamp, data: { tenantId: endpoint.tenantId } });
  const { signal } = new AbortController();
  try {
    return await postWebhook(endpoint, { id: `msg_${randomUUID()}`, body, headers: {} }, { clock, timeoutMs, signal });
  } catch (error) {
    return { status: undefined, problem: errorText(error) };
  }
}

/** How an endpoint took a delivery. */
interface WebhookAnswer {
  /** Undefined without an answer. */
  readonly status: number | undefined;
  /** Why it was no success; undefined when it was one. */
  readonly problem: string | undefined;
}

/**
 * Sends one delivery, signed where there is a secret (Standard Webhooks specification). Redirects are not followed: an endpoint that has moved is to
 * be configured anew. The answer's body is not read.
 * @throws WebhookRefusedError for an address that deliveries may not be sent to; the signal's reason when aborted
 */
export async function postWebhook(
  endpoint: Pick<WebhookEndpoint, 'url' | 'allowPrivate'> & { readonly secret?: WebhookEndpoint['secret'] | undefined },
  delivery: { readonly id: string; readonly body: string; readonly headers: Readonly<Record<string, string>> },
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
        ...delivery.headers,
        ...(endpoint.secret && signedHeaders(endpoint.secret.reveal(), delivery.id, clock.wallMs(), delivery.body)),
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
