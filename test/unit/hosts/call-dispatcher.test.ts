import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CallDispatcher } from '../../../src/hosts/call-dispatcher.ts';
import type { MediaProcess } from '../../../src/hosts/media-process.ts';
import { loadBots } from '../../../src/config/bot-files.ts';
import { phrasesOf } from '../../../src/config/bots.ts';
import type { OutboundCall } from '../../../src/call/admission/outbound-calls.ts';
import type { InboundCall } from '../../../src/carriers/port.ts';
import { fromPackage } from '../../../src/cli/setup/package-root.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Slots } from '../../../src/speech/client/slots.ts';
import { processOf, ScriptedMedia, settle } from './scripted-process.ts';

const { bots } = loadBots(fromPackage('config/bots'));

const inbound = (carrierCallId: string): InboundCall => ({
  carrier: 'twilio',
  carrierCallId,
  from: '+15550100',
  to: '+15550200',
  direction: 'inbound',
  botName: bots[0]!.name,
});

/** A front with scripted processes that are up. */
async function front(
  options: {
    readonly maximum?: number;
    readonly slots?: Slots;
    readonly names?: readonly string[];
    readonly stopping?: () => boolean;
    readonly keepFree?: number;
  } = {},
) {
  const { maximum = 10, slots = new Slots(100), names = ['one', 'two'] } = options;
  const clock = new ManualClock();
  const media = names.map((name) => new ScriptedMedia(name));
  const processes: MediaProcess[] = media.map((each, index) =>
    processOf(each, index + 1, (report) => {
      if (report.type === 'begun' || report.type === 'given-up' || report.type === 'over') desk.heard(processes[index]!, report);
    }),
  );
  const desk: CallDispatcher = new CallDispatcher({
    bots,
    maximum,
    keepFree: options.keepFree,
    freeSpeech: () => slots.free,
    speechIsUp: () => true,
    reserveSpeech() {
      const slot = slots.tryReserve('live');
      return slot && { vendor: 'platform', lane: slot.lane, release: () => slot.release() };
    },
    processes: () => processes.filter(({ serves }) => serves),
    stopping: options.stopping ?? (() => false),
    clock,
  });
  const givenUp: string[] = [];
  desk.onGivenUp(({ callId }, why) => void givenUp.push(`${callId} ${why}`));
  for (const process of processes) void process.gone.then(() => desk.gone(process));
  for (const each of media) each.report({ type: 'up' });
  await settle();
  return { desk, media, processes, slots, clock, givenUp };
}

it('admits exactly as many calls over all processes as the limit says, spread evenly, and refuses the excess politely', async () => {
  const { desk, media, slots } = await front({ maximum: 10 });
  const answers = await Promise.all(
    Array.from({ length: 15 }, async (_, index) => desk.calls.intake.answer(inbound(`CA${index}`))),
  );
  expect(answers.filter(({ kind }) => kind === 'accept')).toHaveLength(10);
  const refused = answers.filter((answer) => answer.kind === 'refuse');
  expect(refused).toHaveLength(5);
  for (const { cause, say } of refused) expect({ cause, say }).toEqual({ cause: 'calls', say: phrasesOf(bots[0]!).overflow });
  expect(media.map(({ calls }) => calls.size)).toEqual([5, 5]);
  expect(slots.use.live).toBe(10);

  // A place that becomes free is given away once.
  media[1]!.end('CA1');
  await settle();
  const next = await Promise.all([desk.calls.intake.answer(inbound('CA20')), desk.calls.intake.answer(inbound('CA21'))]);
  expect(next.map(({ kind }) => kind)).toEqual(['accept', 'refuse']);
  expect(media[1]!.calls.size).toBe(5);
});

it('tells the call of one carrier from the call of another, or of another account, that has the same id', async () => {
  const { desk, media } = await front({ names: ['one'] });
  media[0]!.callIdOf = ({ carrier, carrierCallId }) => `${carrier}/${carrierCallId}`;
  const answers = await Promise.all(
    ['twilio', 'vonage', 'twilio@acme'].map(async (carrier) => desk.calls.intake.answer({ ...inbound('same'), carrier })),
  );
  // The tenant has no bot here.
  expect(answers).toMatchObject([{ callId: 'twilio/same' }, { callId: 'vonage/same' }, { kind: 'refuse', cause: 'no-bot' }]);
  expect(desk.active).toBe(2);
  desk.calls.intake.carrierStatus({ carrier: 'twilio@acme', carrierCallId: 'same' }, 'completed', true);
  await settle();
  expect(media[0]!.told).toEqual([]);
});

it('never has more calls than the limit, whatever order calls come, end and lose their process in', async () => {
  const step = fc.oneof(
    fc.record({ act: fc.constant('dial' as const), call: fc.nat(8) }),
    fc.record({ act: fc.constant('end' as const), call: fc.nat(8) }),
    fc.record({ act: fc.constant('settle' as const), call: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, kill) => {
      const { desk, media, slots } = await front({ maximum: 3 });
      const answers: Promise<unknown>[] = [];
      for (const { act, call } of steps) {
        const carrierCallId = `CA${call}`;
        if (act === 'dial') answers.push(Promise.resolve(desk.calls.intake.answer(inbound(carrierCallId))));
        else if (act === 'settle') await settle();
        else media.find(({ calls }) => calls.has(carrierCallId))?.end(carrierCallId);
        expect(desk.active).toBeLessThanOrEqual(3);
      }
      if (kill) media[0]!.child.kill();
      await Promise.all(answers);
      await settle();
      const alive = media.filter(({ child }) => child.connected).reduce((sum, { calls }) => sum + calls.size, 0);
      expect(desk.active).toBe(alive);
      expect(slots.use.live).toBe(alive);
    }),
    { numRuns: 60 },
  );
});

it('finds the process of a call again for its orders, its end, its media and further answers', async () => {
  const { desk, media } = await front();
  const [one, two] = [await desk.calls.intake.answer(inbound('CA1')), await desk.calls.intake.answer(inbound('CA2'))];
  expect([one, two]).toMatchObject([{ callId: 'one CA1' }, { callId: 'two CA2' }]);
  expect(await desk.calls.intake.answer(inbound('CA2'))).toEqual({
    kind: 'accept',
    callId: 'two CA2',
    attachmentId: 'two CA2 2',
  });
  expect(desk.active).toBe(2);
  await desk.calls.live.order('two CA2', { type: 'say', text: 'Hello' }, 'key');
  desk.calls.intake.keyReported({ carrier: 'twilio', carrierCallId: 'CA2' }, '5');
  desk.calls.intake.keyReported({ carrier: 'twilio', carrierCallId: 'nobody' }, '5');
  desk.calls.intake.carrierStatus({ carrier: 'twilio', carrierCallId: 'CA2' }, 'completed', true);
  desk.calls.media.expect('two CA2', 'att', 100);
  desk.calls.intake.abandon('two CA2', 'att', 'late');
  await settle();
  expect(media[0]!.told).toEqual([]);
  expect(media[1]!.told).toEqual(['say two CA2', 'key-reported CA2 5', 'carrier-ended CA2', 'expect att', 'abandon two CA2 att']);
  expect((await desk.calls.live.list()).map(({ id }) => id)).toEqual(['one CA1', 'two CA2']);
  expect(await desk.calls.live.find('two CA2')).toMatchObject({ id: 'two CA2' });
  expect(await desk.calls.live.find('nobody')).toBeUndefined();
  await expect(desk.calls.live.order('nobody', { type: 'hang-up' }, 'key')).rejects.toThrow('over');
  expect(await desk.calls.redeem(['echo'], 'two')).toBe('value of two');
  expect(await desk.calls.redeem(['echo'], 'none')).toBeUndefined();
});

it('answers a webhook that comes twice once, though the first is not answered yet', async () => {
  const { desk, media } = await front();
  let go = (): void => undefined;
  media[0]!.delay = new Promise((resolve) => (go = resolve));
  const both = ['CA1', 'CA1'].map(async (call) => desk.calls.intake.answer(inbound(call)));
  go();
  expect(await Promise.all(both)).toMatchObject([{ attachmentId: 'one CA1 1' }, { attachmentId: 'one CA1 2' }]);
  expect(desk.active).toBe(1);
});

it('gives a call to another process when the first ends under the question, and forgets the calls of the dead one', async () => {
  const { desk, media, slots } = await front();
  await desk.calls.intake.answer(inbound('CA1'));
  await desk.calls.intake.answer(inbound('CA2'));
  media[0]!.delay = new Promise(() => undefined);
  const asked = desk.calls.intake.answer(inbound('CA3'));
  await settle();
  media[0]!.child.kill();
  expect(await asked).toMatchObject({ callId: 'two CA3' });
  await settle();
  expect(desk.active).toBe(2);
  expect(slots.use.live).toBe(2);
  // The caller's carrier calls back: it is a new call.
  expect(await desk.calls.intake.answer(inbound('CA1'))).toMatchObject({ callId: 'two CA1' });
});

it('gives no call to a process whose loop is late or that leaves, and refuses politely when there is no other', async () => {
  const { desk, media } = await front();
  media[0]!.report({ type: 'load', lagMs: 900, shedding: true });
  await settle();
  expect(desk.shedding).toBe(false);
  expect(await desk.calls.intake.answer(inbound('CA1'))).toMatchObject({ callId: 'two CA1' });
  expect(await desk.calls.intake.answer(inbound('CA2'))).toMatchObject({ callId: 'two CA2' });
  media[1]!.report({ type: 'load', lagMs: 900, shedding: true });
  await settle();
  expect(await desk.calls.intake.answer(inbound('CA3'))).toMatchObject({ kind: 'refuse', cause: 'loop-lag' });
  for (const each of media) each.report({ type: 'leaving' });
  await settle();
  expect(await desk.calls.intake.answer(inbound('CA4'))).toMatchObject({ kind: 'refuse', cause: 'process' });
  // Those it has still are its own.
  expect(await desk.calls.intake.answer(inbound('CA1'))).toMatchObject({ attachmentId: 'two CA1 3' });
});

it.each([
  { note: 'all processes are ending', stopping: true, cause: 'stopping', phrase: 'shutdown' },
  { note: 'none is there', stopping: false, cause: 'process', phrase: 'apology' },
] as const)('refuses with the words of the bot that was called when $note', async ({ stopping, cause, phrase }) => {
  const { desk, media } = await front({ stopping: () => stopping });
  for (const each of media) each.report({ type: 'leaving' });
  await settle();
  for (const bot of bots) {
    const answer = await desk.calls.intake.answer({ ...inbound('CA1'), botName: bot.name });
    expect(answer).toMatchObject({ kind: 'refuse', cause, language: bot.language, say: phrasesOf(bot)[phrase] });
  }
});

it('says which calls there are, and gives out what a caller keyed, though one process answers nothing', async () => {
  const { desk, media, clock } = await front();
  for (const call of ['CA1', 'CA2']) await desk.calls.intake.answer(inbound(call));
  media[0]!.child.deaf = true;
  const listed = desk.calls.live.list();
  await settle();
  clock.advance(1_000);
  expect((await listed).map(({ id }) => id)).toEqual(['two CA2']);
  expect(await desk.calls.redeem(['echo'], 'two')).toBe('value of two');
});

it('gives the place back of a call that its process refuses', async () => {
  const { desk, media, slots } = await front({ names: ['one'] });
  media[0]!.refusal = { kind: 'refuse', say: 'No.', language: 'en', cause: 'lease', reason: 'none' };
  expect(await desk.calls.intake.answer(inbound('CA1'))).toMatchObject({ cause: 'lease' });
  expect([desk.active, slots.use.live]).toEqual([0, 0]);
});

it('tells each process the key that a call recognises with, so that no key has more than it may', async () => {
  const slots = new Slots(2, { lanes: 2 });
  const { desk, media } = await front({ slots });
  for (const call of ['CA1', 'CA2', 'CA3', 'CA4']) await desk.calls.intake.answer(inbound(call));
  expect(media.flatMap(({ lanes }) => lanes).toSorted((one, other) => one - other)).toEqual([0, 0, 1, 1]);
  expect(await desk.calls.intake.answer(inbound('CA5'))).toMatchObject({ kind: 'refuse', cause: 'speech-slots' });
});

const dial = (callId: string): OutboundCall => ({
  callId,
  tenantId: 'default',
  carrier: 'twilio',
  from: '+15550200',
  to: '+919876543210',
  botName: bots[0]!.name,
  variables: {},
  metadata: {},
  duties: [],
});

it('holds a call that is dialled in the process with the fewest calls, and finds it by its carrier id once its media came', async () => {
  const { desk, media, slots } = await front();
  await desk.calls.intake.answer(inbound('CA1'));
  expect(await desk.reserve(dial('call_1'))).toEqual({ kind: 'reserved', attachmentId: 'call_1 1' });
  expect([desk.active, slots.use.live, [...media[1]!.reserved]]).toEqual([2, 2, ['call_1']]);
  desk.calls.intake.dialReported('call_1', { carrier: 'twilio', carrierCallId: 'CA2', progress: { state: 'ringing' } });
  desk.calls.media.expect('call_1', 'att', 30_000);
  media[1]!.begin('call_1', 'CA2');
  await settle();
  expect(media[1]!.told).toEqual(['reported call_1 ringing', 'expect att']);
  expect(await desk.calls.intake.answer(inbound('CA2'))).toMatchObject({ kind: 'accept', callId: 'call_1' });
  desk.calls.intake.carrierStatus({ carrier: 'twilio', carrierCallId: 'CA2' }, 'completed', true);
  media[1]!.end('CA2');
  await settle();
  expect(media[1]!.told).toContain('carrier-ended CA2');
  expect([desk.active, slots.use.live]).toEqual([1, 1]);
});

it('leaves places to callers over all processes', async () => {
  const { desk } = await front({ maximum: 3, keepFree: 1 });
  expect(desk.room).toBe(2);
  const reserved = await Promise.all(['call_1', 'call_2', 'call_3'].map((id) => desk.reserve(dial(id))));
  expect(reserved.map(({ kind }) => kind)).toEqual(['reserved', 'reserved', 'refuse']);
  expect(desk.room).toBe(0);
  expect(await desk.calls.intake.answer(inbound('CA1'))).toMatchObject({ kind: 'accept' });
  expect(await desk.calls.intake.answer(inbound('CA2'))).toMatchObject({ kind: 'refuse', cause: 'calls' });
});

it('gives place and slot back when a dial is released, refused or given up by its process', async () => {
  const { desk, media, slots, givenUp } = await front({ names: ['one'] });
  await desk.reserve(dial('call_1'));
  expect(await desk.reserve(dial('call_1'))).toMatchObject({ kind: 'refuse', cause: 'lease' });
  for (const _again of [1, 2]) desk.release('call_1', 'busy');
  await settle();
  expect([desk.active, slots.use.live, givenUp]).toEqual([0, 0, []]);
  await desk.reserve(dial('call_2'));
  media[0]!.report({ type: 'given-up', callId: 'call_2', why: 'no-media' });
  media[0]!.report({ type: 'over', callId: 'call_2' });
  await settle();
  expect([desk.active, slots.use.live, givenUp]).toEqual([0, 0, ['call_2 no-media']]);
  media[0]!.refusal = { kind: 'refuse', say: 'No.', language: 'en', cause: 'lease', reason: 'none' };
  expect(await desk.reserve(dial('call_3'))).toMatchObject({ cause: 'lease' });
  expect([desk.active, slots.use.live]).toEqual([0, 0]);
});

it('says which dials lost their process, and counts no call of theirs as lost', async () => {
  const { desk, media, processes, slots, givenUp } = await front();
  await desk.reserve(dial('call_1'));
  await desk.calls.intake.answer(inbound('CA1'));
  await desk.reserve(dial('call_2'));
  media[0]!.child.kill();
  await settle();
  expect(givenUp).toEqual(['call_1 process-died', 'call_2 process-died']);
  expect([desk.gone(processes[0]!), desk.active, slots.use.live]).toEqual([0, 1, 1]);
});

it('reserves in another process when the first ends under the question, and tells of no loss', async () => {
  const { desk, media, slots, givenUp } = await front();
  media[0]!.delay = new Promise(() => undefined);
  const asked = desk.reserve(dial('call_1'));
  await settle();
  media[0]!.child.kill();
  expect(await asked).toMatchObject({ kind: 'reserved' });
  expect([[...media[1]!.reserved], desk.active, slots.use.live, givenUp]).toEqual([['call_1'], 1, 1, []]);
});

it('gives up what is dialled when it drains, and waits for it no longer', async () => {
  let stopping = false;
  const { desk, media, slots, givenUp } = await front({ stopping: () => stopping });
  await desk.reserve(dial('call_1'));
  let go = (): void => undefined;
  media[1]!.delay = new Promise((resolve) => (go = resolve));
  const late = desk.reserve(dial('call_2'));
  await settle();
  stopping = true;
  const drained = desk.drained();
  expect([desk.room, givenUp]).toEqual([0, ['call_1 stopping']]);
  go();
  expect(await late).toMatchObject({ kind: 'refuse', cause: 'stopping' });
  await drained;
  expect([desk.active, slots.use.live, givenUp]).toEqual([0, 0, ['call_1 stopping']]);
});

it("sends an agent's leg to the process that has the caller, whatever its load, and counts no place for it", async () => {
  const { desk, media, processes } = await front();
  await desk.calls.intake.answer(inbound('CA1'));
  const [has] = processes;
  if (has === undefined) throw new TypeError('there is no process');
  desk.openLeg(has, 'leg_1');
  desk.calls.media.expect('leg_1', 'att_leg', 30_000);
  desk.calls.intake.dialReported('leg_1', { carrier: 'twilio', carrierCallId: 'CA9', progress: { state: 'ringing' } });
  const socket = new Socket();
  await desk.calls.media.take(
    { carrier: 'twilio', callId: 'leg_1', attachmentId: 'att_leg' },
    { socket, headers: {}, early: new Uint8Array(), address: '127.0.0.1' },
  );
  expect(media[0]?.told).toEqual(['expect att_leg', 'reported leg_1 ringing', 'media leg_1']);
  expect(desk.active).toBe(1);
  desk.closeLeg('leg_1');
  desk.calls.media.expect('leg_1', 'att_leg', 30_000);
  expect(media[0]?.told).toHaveLength(3);
});
