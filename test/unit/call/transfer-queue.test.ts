import { expect, it } from 'vitest';
import { AgentLegs } from '../../../src/call/transfer/agent-legs.ts';
import { TransferQueues } from '../../../src/call/transfer/transfer-queues.ts';
import type { DialOrder } from '../../../src/carriers/port.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { flowHooks } from '../../../src/dialog/flow/hook.ts';
import { parseFlow } from '../../../src/dialog/flow/load.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CallBench } from './call-bench.ts';

const AGENT = '+15550100';
const flow = parseFlow(
  {
    start: 'hello',
    slots: { message: { kind: 'text' } },
    states: {
      hello: {
        say: 'I connect you.',
        transfer: {
          to: AGENT,
          warm: {
            brief: 'A caller.',
            queue: { maxWaitMs: 40_000, say: 'Press one to leave a message.', leave: { '1': 'mailbox' } },
          },
          failed: { 'no-answer': 'mailbox', otherwise: 'sorry' },
        },
      },
      mailbox: { voicemail: { prompt: 'Please speak after the tone.', slot: 'message' }, next: 'thanks' },
      thanks: { say: 'Thank you.', hangup: 'message-left' },
      sorry: { say: 'Nobody is there.', hangup: 'nobody' },
    },
  },
  { language: 'en' },
);
const { transfers } = botSettings.parse({
  name: 'a',
  voice: 'b',
  dialog: { kind: 'module', file: 'x' },
  transfers: { allow: [AGENT] },
});

/** A caller of one agent. */
class QueueBench extends CallBench {
  readonly orders: DialOrder[] = [];
  readonly hungUp: string[] = [];
  readonly legs: AgentLegs;
  readonly said: string[] = [];

  constructor(queues: TransferQueues, callId: string) {
    const legs = new AgentLegs({
      addresses: async ({ legId }) => ({ streamUrl: `wss://g/${legId}`, statusUrl: `https://g/${legId}` }),
      placed: () => undefined,
      closed: () => undefined,
    });
    const dialog = flowHooks(flow, new ManualClock(0));
    const unused = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) });
    super(unused, { transfers }, { callId, dialog }, () => ({ legs, queues }));
    this.legs = legs;
    this.voiceOf = (text) => {
      this.said.push(text);
      return new Uint8Array(Math.ceil((text.length * 30) / 20) * 160).fill(0x20);
    };
    this.control = {
      hangUp: async (call) => void this.hungUp.push(call),
      transfer: async () => undefined,
      sendDigits: async () => undefined,
      dialling: {
        capabilities: { callsPerSecond: 1, detectsMachines: true, canFind: true },
        dial: async (order) => {
          this.orders.push(order);
          return { carrierCallId: `CA-${callId}-${this.orders.length}` };
        },
        find: async () => ({ found: 'unknown' }),
        progressOf: async () => undefined,
      },
    };
  }

  /** The agent of the last order is busy. */
  busy(): void {
    const legId = this.orders.at(-1)?.callId ?? '';
    const carrierCallId = `CA-${this.session.id}-${this.orders.length}`;
    this.legs.reported(legId, { carrier: 'bench', carrierCallId, progress: { state: 'ended', outcome: 'busy' } });
  }
}

async function waiting(queues: TransferQueues, callId: string): Promise<QueueBench> {
  const bench = new QueueBench(queues, callId);
  await bench.start(1_000);
  return bench;
}

it('rings the agent for the first caller alone, again while they are busy, and for the next when the first is gone', async () => {
  const queues = new TransferQueues();
  using first = await waiting(queues, 'call_1');
  using second = await waiting(queues, 'call_2');
  expect([first.orders.length, second.orders.length]).toEqual([1, 0]);
  await second.quiet(4_000);
  expect(second.said).toEqual(['I connect you.', 'You are number 2 in the queue.', 'Press one to leave a message.']);
  expect(second.session.standing.transfer).toMatchObject({ to: AGENT, state: 'queued' });
  first.busy();
  await first.quiet(14_800);
  expect(first.orders).toHaveLength(1);
  await first.quiet(400);
  expect(first.orders).toHaveLength(2);
  expect(first.said).toContain('You are next.');
  first.session.carrierEnded('caller-hangup');
  await first.session.ended;
  await second.quiet(1_500);
  expect(second.orders).toHaveLength(1);
  await second.quiet(2_000);
  expect(second.said).toContain('You are next.');
  expect(first.record?.transfers.map(({ outcome }) => outcome)).toEqual(['busy', 'cancelled']);
});

it('lets a caller leave the queue by a key, and the next one come forward', async () => {
  const queues = new TransferQueues();
  using first = await waiting(queues, 'call_1');
  using second = await waiting(queues, 'call_2');
  await first.quiet(4_000);
  first.attachment.emit({ type: 'digit', digit: '1' });
  await first.quiet(1_500);
  expect(first.said.at(-1)).toBe('Please speak after the tone.');
  expect(first.hungUp).toEqual(['CA-call_1-1']);
  await second.quiet(100);
  expect(second.orders).toHaveLength(1);
});

it('goes on where the flow says after the longest wait', async () => {
  const queues = new TransferQueues();
  queues.place('default', AGENT, 'call_0');
  using bench = await waiting(queues, 'call_1');
  await bench.quiet(20_000);
  expect(bench.said.filter((text) => text === 'You are number 2 in the queue.').length).toBeGreaterThan(1);
  await bench.quiet(22_000);
  expect(bench.said.at(-1)).toBe('Please speak after the tone.');
  expect(bench.orders).toEqual([]);
  expect(queues.place('default', AGENT, 'call_2')).toBe(2);
});
