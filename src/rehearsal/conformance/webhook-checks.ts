import { WEBHOOK_EVENTS, type WebhookEventType } from '../../config/webhook-endpoints.ts';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import { type Check, failed, type Finding, PASSED } from './check.ts';
import type { CheckedServer } from './http-checks.ts';
import { sampleMessageId, signature, signatureChecks, type Signing } from './signing.ts';

/** Deliveries wait behind a slow endpoint. */
const SOON_MS = 5_000;
const AT_ONCE = 20;

interface Delivery {
  readonly id: string;
  readonly body: object;
}

/** What a gateway sends to a webhook endpoint, and what the endpoint has to do (docs/webhooks.md). */
export function webhookChecks(server: CheckedServer): readonly Check[] {
  const probe = new WebhookProbe(server);
  return [
    ...WEBHOOK_EVENTS.map((type): Check => ({
      name: `event: ${type}`,
      rule: 'an event of any type is answered with 2xx, also one that the server does not use',
      run: () => probe.takes(deliveryOf(type)),
    })),
    {
      name: 'an unknown event',
      rule: 'an event of a later version is answered with 2xx and ignored',
      run: () =>
        probe.takes({
          id: sampleMessageId(),
          body: { type: 'future.event', timestamp: new Date().toISOString(), data: { future: {} } },
        }),
    },
    {
      name: 'unknown fields',
      rule: 'fields that the server does not know are ignored',
      run: () => {
        const { id, body } = deliveryOf('call.ended');
        return probe.takes({ id, body: { ...body, future: [1, { a: null }] } });
      },
    },
    {
      name: 'a repeat',
      rule: 'the same webhook-id is the same event: answered with 2xx, and handled once',
      run: async () => {
        const delivery = deliveryOf('call.ended');
        const first = await probe.takes(delivery);
        return first.is === 'failed' ? first : probe.takes(delivery);
      },
    },
    {
      name: 'events in another order',
      rule: 'the end of a call may arrive before its turns',
      run: async () => {
        const callId = newId('call');
        const first = await probe.takes(deliveryOf('call.ended', callId));
        return first.is === 'failed' ? first : probe.takes(deliveryOf('turn.completed', callId));
      },
    },
    {
      name: 'events at the same time',
      rule: `${AT_ONCE} deliveries at once are all answered with 2xx`,
      run: async () => {
        const found = await Promise.all(Array.from({ length: AT_ONCE }, () => probe.takes(deliveryOf('turn.completed'))));
        return found.find(({ is }) => is !== 'passed') ?? PASSED;
      },
    },
    ...signatureChecks(server, 'delivery', 'anybody who knows the address can make events up', (signing) =>
      probe.send(deliveryOf('call.ended'), signing),
    ),
  ];
}

class WebhookProbe {
  readonly #server: CheckedServer;

  constructor(server: CheckedServer) {
    this.#server = server;
  }

  async takes(delivery: Delivery): Promise<Finding> {
    const startedMs = systemClock.nowMs();
    const status = await this.send(delivery, 'right');
    const tookMs = Math.round(systemClock.nowMs() - startedMs);
    if (status === 410) return failed('it was answered with 410, which ends all attempts at this delivery');
    if (status >= 300 && status < 400)
      return failed(`it was answered with ${status}: redirects are not followed, configure the new address`);
    if (status < 200 || status > 299) return failed(`it was answered with ${status}, and would be tried again for a day`);
    return tookMs > SOON_MS ? { is: 'warned', got: `it took ${tookMs} ms: answer first, and work afterwards` } : PASSED;
  }

  /** @returns the status */
  async send({ id, body }: Delivery, signing: Signing): Promise<number> {
    const { url, secret, timeoutMs } = this.#server;
    const text = JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'offhook',
      ...traceHeaders(newId('call')),
      ...signature(secret, signing, text, id),
    };
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: text,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.status;
  }
}

const AT = '2026-03-05T10:00:00.000Z';
const PARTIES = { from: '+*********01', to: '+*********02' };
const CALL = {
  botName: 'conformance',
  carrier: 'twilio',
  carrierCallId: 'CA00',
  direction: 'inbound',
  language: 'en',
  startedAt: AT,
};
const TURN = {
  botName: 'conformance',
  turn: 1,
  inputKind: 'spoken',
  interrupted: false,
  latenciesMs: { total: 700 },
  startedAt: AT,
};
const END = { endedAt: AT, endReason: 'finished', durationMs: 34_000, turns: 5, recorded: true };
const ATTEMPT = { botName: 'conformance', carrier: 'twilio', attempt: 1, profile: 'none', purpose: 'transactional' };
const CAMPAIGN = { name: 'conformance', botName: 'conformance', contacts: { pending: 1, leased: 0, waiting: 0, done: 9 } };

/** A delivery of a type, as docs/webhooks.md describes its data. */
function deliveryOf(type: WebhookEventType, callId = newId('call')): Delivery {
  return { id: sampleMessageId(), body: { type, timestamp: AT, data: { tenantId: 'default', ...dataOf(type, callId) } } };
}

function dataOf(type: WebhookEventType, callId: string): object {
  switch (type) {
    case 'call.started':
      return { callId, ...CALL, ...PARTIES };
    case 'turn.completed':
      return { callId, ...TURN, callerText: 'मंगलवार', botText: 'Tuesday. Right?', botHeardText: 'Tuesday. Ri—' };
    case 'call.ended':
      return { callId, ...CALL, ...PARTIES, ...END, variables: { day: '2026-03-10' }, notes: ['Appointment agreed.'] };
    case 'call.voicemail':
      return {
        callId,
        botName: 'conformance',
        turn: 2,
        startedAt: AT,
        durationMs: 4200,
        ...PARTIES,
        callerText: 'please call me',
      };
    case 'analysis.completed':
      return { callId, profile: 'default', version: '1', disposition: 'booked', score: 90 };
    case 'analysis.failed':
      return { callId, profile: 'default', version: '1', failure: 'OFFHOOK_RECORDING_INVALID' };
    case 'attempt.refused':
      return { callId, ...ATTEMPT, ...PARTIES, cause: 'suppressed' };
    case 'attempt.placed':
    case 'attempt.ringing':
    case 'attempt.answered':
      return { callId, ...ATTEMPT, ...PARTIES, carrierCallId: 'CA00', placedAt: AT, ringingAt: AT, answeredAt: AT };
    case 'attempt.ended':
      return { callId, ...ATTEMPT, ...PARTIES, disposition: 'completed', answeredBy: 'person', endedAt: AT };
    case 'campaign.started':
    case 'campaign.paused':
    case 'campaign.resumed':
    case 'campaign.finished':
    case 'campaign.stopped':
      return { campaignId: newId('cmp'), ...CAMPAIGN, reason: 'a person' };
    case 'audit.head':
      return { logId: 'actions', log: 'actions', of: 'default', sequence: 7, hash: '0'.repeat(64), at: AT };
  }
}
