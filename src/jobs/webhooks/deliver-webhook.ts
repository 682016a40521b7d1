import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import type { Store } from '../../store/port.ts';
import { JobSubjectError, WebhookFailedError, WebhookRefusedError } from '../errors.ts';
import type { JobHandler } from '../queue/port.ts';
import { postWebhook } from './post-webhook.ts';
import type { WebhookDispatcher } from './webhook-dispatcher.ts';

const subject = z.object({ tenantId: z.string().min(1), id: z.string().min(1) });

export interface DeliverParts {
  readonly store: Pick<Store, 'webhooks'>;
  readonly desk: WebhookDispatcher;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** The job of the `webhooks` queue: one try at one delivery, whose outcome the store keeps. */
export function deliverWebhook({ store, desk, clock, timeoutMs }: DeliverParts): JobHandler {
  return async (run) => {
    const parsed = subject.safeParse(run.payload);
    if (!parsed.success) throw new JobSubjectError(`not a delivery: ${z.prettifyError(parsed.error)}`, false, {});
    const { tenantId, id } = parsed.data;
    const delivery = await store.webhooks.get(tenantId, id);
    // Erased with its call, or delivered by another that was faster.
    if (delivery === undefined || delivery.state === 'delivered') return;
    const tried = (state: 'pending' | 'delivered' | 'failed', status: number | undefined, reason: string | undefined) =>
      store.webhooks.tried({ tenantId, id }, { state, status, reason, atMs: clock.wallMs() });

    const endpoint = desk.endpoint(tenantId, delivery.endpoint);
    if (endpoint === undefined) {
      await tried('failed', undefined, 'its endpoint is not configured any more');
      throw new JobSubjectError('the endpoint of a delivery is not configured any more', false, { endpoint: delivery.endpoint });
    }
    const sent = { id, body: JSON.stringify(delivery.body) };
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
