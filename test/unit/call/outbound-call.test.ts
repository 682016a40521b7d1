import { expect, it } from 'vitest';
import type { CallIdentity, CallRecord } from '../../../src/call/log/call-record.ts';
import { storedCall } from '../../../src/records/after-call/stored-call.ts';
import { CallLog } from '../../../src/call/log/call-log.ts';
import type { CallServices } from '../../../src/call/services.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { callRecord } from '../../../src/records/record.ts';
import { CallBench } from './call-bench.ts';

const US = '+15550100';
const ASHA = '+919876543210';

const outbound: Partial<CallIdentity> = {
  inbound: { carrier: 'bench', carrierCallId: 'CA1', from: US, to: ASHA, direction: 'outbound', botName: 'bench' },
  outbound: { variables: { name: 'Asha' }, metadata: { order: 'A-7' }, campaignId: 'cmp_1', duties: [] },
};

function placed(...sentences: string[]): CallBench {
  const say = sentences.map((text) => ({ type: 'say', text }) as const);
  return new CallBench(
    async function* () {
      yield* say;
      yield { type: 'set', variables: { confirmed: 'yes' } } as const;
    },
    {},
    outbound,
  );
}

async function recordOf(bench: CallBench): Promise<CallRecord> {
  bench.session.hangUp('done');
  return bench.session.ended;
}

it('gives the bot its variables with the first turn of a call that we place, and who is called', async () => {
  using bench = placed('Hello Asha.');
  await bench.answered();
  expect(bench.asked[0]).toMatchObject({
    index: 0,
    call: { direction: 'outbound', from: US, to: ASHA },
    variables: { name: 'Asha' },
  });
});

it('journals an answered call before any word, so that another process can end it', async () => {
  using bench = placed('Hello Asha.');
  bench.session.attach(bench.attachment);
  expect(bench.asked).toEqual([]);
  expect(bench.journal).toMatchObject([{ direction: 'outbound', endReason: 'in-progress', attachments: [{ id: 'att_0' }] }]);
});

it('gives the bot no metadata', async () => {
  using bench = placed('Hello Asha.');
  await bench.answered();
  expect(bench.asked).toHaveLength(1);
  expect(JSON.stringify(bench.asked)).not.toContain('A-7');
});

it('keeps with the record what the call was placed with', async () => {
  using bench = placed('Hello Asha.');
  await bench.answered();
  await bench.quiet(3_000);
  const record = await recordOf(bench);
  expect(record).toMatchObject({
    direction: 'outbound',
    from: US,
    to: ASHA,
    variables: { name: 'Asha', confirmed: 'yes' },
    outbound: { campaignId: 'cmp_1', metadata: { order: 'A-7' }, opinions: [{ by: 'person' }], identified: true },
  });
  expect(callRecord.parse(storedCall(record, 1))).toMatchObject({
    metadata: { order: 'A-7' },
    outbound: { campaignId: 'cmp_1', answeredBy: 'person', identified: true },
  });
});

it('keeps with the record who answered, and what the person asked for', () => {
  const services = Object.assign(Object.create(null) as CallServices, { clock: new ManualClock() });
  const bot = botSettings.parse({ name: 'bench', voice: 'Nisha', dialog: { kind: 'module', file: 'bench.js' } });
  const log = new CallLog(Object.assign(Object.create(null) as CallIdentity, { callId: 'call_1', bot, ...outbound }), services);
  log.outbound?.opinion('mailbox', 800, 0.6);
  log.outbound?.opinion('person', 2_000.4, 0.9);
  log.outbound?.messageLeft('part');
  const record: CallRecord = {
    ...log.record('caller-hangup', 'en', {}),
    optOut: { kind: 'opt-out', how: 'keyed', atWallMs: 7_000 },
    callBackAtWallMs: 99_000,
  };
  const { outbound: found, optOut, callBackAtMs } = storedCall(record, 1);
  expect(found).toEqual({
    campaignId: 'cmp_1',
    answeredBy: 'person',
    opinions: [
      { by: 'mailbox', atMs: 800, confidence: 0.6 },
      { by: 'person', atMs: 2_000, confidence: 0.9 },
    ],
    message: 'part',
    identified: false,
  });
  expect([optOut, callBackAtMs]).toEqual([{ kind: 'opt-out', how: 'keyed', atMs: 7_000 }, 99_000]);
});

it('counts as identified only where the first sentence was heard to its end', async () => {
  using bench = placed('This is a very long first sentence that says who is calling and what about.');
  await bench.start(500);
  expect((await recordOf(bench)).outbound?.identified).toBe(false);
});

it('keeps nothing of the kind with a call that came in', async () => {
  using bench = new CallBench(async function* () {
    yield { type: 'say', text: 'Hello.' };
  });
  await bench.start();
  const record = await recordOf(bench);
  expect(record.outbound).toBeUndefined();
  expect(storedCall(record, 1)).not.toHaveProperty('outbound');
  expect(storedCall(record, 1)).not.toHaveProperty('metadata');
});
