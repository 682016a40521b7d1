import { expect, it } from 'vitest';
import { Ticker } from '../../../src/call/ticker.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CallBench, type DialogScript } from './call-bench.ts';
import { untilPasses } from '../../support/eventually.ts';

const greets: DialogScript = async function* (turn) {
  yield { type: 'say', text: turn.input.kind === 'start' ? 'Hello, how can I help you today?' : 'Yes.' };
};

it('goes on when someone who watches the call throws', async () => {
  using bench = new CallBench(greets);
  bench.newsFails = true;
  await bench.start(2_500);
  await bench.says(0, 'tuesday', 1_000);
  expect(bench.asked).toHaveLength(2);
  await bench.hangUp('done');
  expect(bench.record?.turns).toHaveLength(2);
});

it('keeps the record of a call whose dialog fails to clean up, or never does', async () => {
  for (const dispose of [() => Promise.reject(new Error('no')), () => new Promise<void>(() => undefined)]) {
    using bench = new CallBench(greets);
    bench.dispose = dispose;
    await bench.start();
    bench.session.hangUp('done');
    await untilPasses(() => expect(bench.record?.endReason).toBe('done'));
    await bench.wait(6_000);
    await bench.session.ended;
  }
});

it.each([-3_600_000, 3_600_000])('dates a call rightly although the clock is set by %i ms while it lasts', async (byMs) => {
  using bench = new CallBench(greets);
  const [beganAtMs, beganMs] = [bench.clock.wallMs(), bench.clock.nowMs()];
  await bench.start(2_500);
  bench.clock.jumpWall(byMs);
  await bench.says(0, 'tuesday', 1_000);
  const { durationMs, startedAtWallMs, endedAtWallMs, turns } = await bench.hangUp('done');
  const lastedMs = bench.clock.nowMs() - beganMs;
  expect(durationMs).toBe(lastedMs);
  expect([startedAtWallMs, endedAtWallMs]).toEqual([beganAtMs, beganAtMs + lastedMs]);
  expect(turns.every((turn) => turn.startedAtWallMs >= beganAtMs && turn.startedAtWallMs <= endedAtWallMs)).toBe(true);
});

it('ticks for the other calls when one throws', () => {
  const clock = new ManualClock(0);
  const failures: unknown[] = [];
  const ticker = new Ticker(clock, 20, (error) => failures.push(error));
  let ticks = 0;
  ticker.add(() => {
    throw new Error('broken call');
  });
  ticker.add(() => {
    ticks += 1;
  });
  clock.advance(60);
  expect(ticks).toBe(3);
  expect(failures).toHaveLength(3);
});

it('says sorry and hangs up when the synthesis of a reply stops in its middle', async () => {
  using bench = new CallBench(greets);
  await bench.start(2_500);
  bench.synthesisHangs = true;
  await bench.says(0, 'tuesday', 5_100);
  expect(bench.record).toBeUndefined();
  expect(bench.attachment.closedBecause).toBeUndefined();
  await bench.quiet(5_100);
  expect(bench.attachment.closedBecause).toBe('speech-unavailable');
  expect((await bench.session.ended).endReason).toBe('speech-unavailable');
});

it('has the caller wait, and not repeat, when the dialog stops in the middle of its answer', async () => {
  using bench = new CallBench(async function* (turn) {
    yield { type: 'say', text: turn.input.kind === 'start' ? 'Hello.' : 'Let me see.' };
    if (turn.input.kind !== 'start') await new Promise(() => undefined);
  });
  await bench.start(2_000);
  await bench.says(0, 'tuesday', 800);
  const before = bench.attachment.sentSamples;
  await bench.quiet(10_500);
  expect(bench.attachment.sentSamples).toBeGreaterThan(before);
  expect(bench.attachment.closedBecause).toBeUndefined();
});

it('lets nothing the caller does take back the last words', async () => {
  using bench = new CallBench(greets);
  await bench.start(2_500);
  bench.session.apologise('speech-unavailable');
  await bench.quiet(200);
  await bench.voice(700);
  bench.attachment.emit({ type: 'digit', digit: '1' });
  bench.recognised(0, 'hello');
  expect(bench.attachment.clears).toBe(0);
  expect(bench.asked).toHaveLength(1);
  await bench.quiet(6_000);
  expect(bench.attachment.closedBecause).toBe('speech-unavailable');
});

it('ends the call in which something of ours throws', async () => {
  using bench = new CallBench(greets);
  await bench.start();
  bench.detectorFails = true;
  await bench.quiet(20);
  expect((await bench.session.ended).endReason).toBe('internal-error');
});

/** What the bot said, as far as it was heard. */
const heardOf = (bench: CallBench): string[] => (bench.record?.turns ?? []).map(({ botHeardText }) => botHeardText);
const APOLOGY = 'Sorry, something went wrong on our side. Please call again later. Goodbye.';

it.each([
  { note: 'cannot be reached', script: (): AsyncIterable<never> => throwing(new Error('away')) },
  {
    note: 'never answers',
    script: (): AsyncIterable<never> => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
  },
])('says the apology and hangs up, and asks for nothing again, when a bot $note at the greeting', async ({ script }) => {
  using bench = new CallBench(script);
  await bench.start(20_000);
  expect(bench.attachment.closedBecause).toBe('dialog-failed');
  await bench.session.ended;
  expect(heardOf(bench).join(' ')).toContain(APOLOGY);
  expect(heardOf(bench).join(' ')).not.toContain('say it again');
  expect(bench.asked).toHaveLength(1);
});

it('connects the caller behind the apology where the bot says to whom', async () => {
  const phrases = { en: { apology: 'Sorry, a person takes over.' } };
  using bench = new CallBench(() => throwing(new Error('away')), { failureTransfer: '+15550100', phrases });
  const transfers: string[] = [];
  const transfer = async (_call: string, to: string): Promise<void> => void transfers.push(to);
  bench.control = { hangUp: async () => undefined, sendDigits: async () => undefined, transfer };
  await bench.start(3_000);
  expect(transfers).toEqual(['+15550100']);
  bench.attachment.emit({ type: 'stopped', reason: 'stream ended' });
  expect((await bench.session.ended).endReason).toBe('transferred');
  expect(heardOf(bench)).toEqual(['Sorry, a person takes over.']);
});

it('listens when a bot breaks off in the middle of its greeting', async () => {
  using bench = new CallBench(async function* (turn) {
    yield { type: 'say', text: turn.input.kind === 'start' ? 'Hello, this is the desk.' : 'Yes.' };
    if (turn.input.kind === 'start') throw new Error('broke off');
  });
  await bench.start(3_000);
  await bench.says(0, 'hello', 1_500);
  await bench.hangUp('done');
  expect(heardOf(bench)).toEqual(['Hello, this is the desk.', 'Yes.']);
});

it('asks a silent caller whether they are there when the bot fails at the silence', async () => {
  using bench = new CallBench(
    async function* (turn) {
      if (turn.input.kind !== 'start') throw new Error('away');
      yield { type: 'say', text: 'Hello.' };
    },
    { noInputMs: 3_000 },
  );
  await bench.start(6_800);
  await bench.hangUp('done');
  expect(heardOf(bench).join(' ')).toMatch(/^Hello\. Sorry, I did not hear anything\./u);
});

it('warns of a bot that answers with nothing, and names the turn', async () => {
  using bench = new CallBench(async function* (turn) {
    if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello.' };
  });
  await bench.start(1_500);
  await bench.says(0, 'tuesday', 500);
  const { timeline } = await bench.hangUp('done');
  const problems = timeline.filter(({ type }) => type === 'problem');
  expect(problems).toEqual([expect.objectContaining({ detail: 'dialog: nothing was said or done in turn 1' })]);
});

function throwing(error: Error): AsyncIterable<never> {
  const next = async (): Promise<never> => {
    throw error;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
