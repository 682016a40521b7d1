import { describe, expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { type BenchAttachment, CallBench } from './call-bench.ts';

const ANSWER = 'We open at nine in the morning on every day but Sunday.';

async function* dialog({ input }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today?' };
  else if (input.kind === 'spoken' && input.text === 'bye') {
    yield { type: 'say', text: 'Goodbye then.' };
    yield { type: 'hangup', reason: 'goodbye' };
  } else yield { type: 'say', text: ANSWER };
}

type Echo = BenchAttachment['echoOf'];
let sent = 0;
const everySecond: Echo = (name) => ((sent += 1) % 2 === 0 ? { name, lateMs: 0 } : undefined);

const wrongly: readonly { readonly note: string; readonly echo: Echo }[] = [
  { note: 'under an empty name', echo: () => ({ name: '', lateMs: 0 }) },
  { note: 'under a name of its own', echo: () => ({ name: 'mark', lateMs: 0 }) },
  { note: 'never', echo: () => undefined },
  { note: 'three seconds late', echo: (name) => ({ name, lateMs: 3_000 }) },
  { note: 'for every second one', echo: everySecond },
];

/** A call whose greeting and first answer were heard: some five seconds of speech. */
async function opened(echo: Echo): Promise<CallBench> {
  const bench = new CallBench(dialog);
  bench.attachment.echoOf = echo;
  await bench.start(2_500);
  await says(bench, 0, 'when');
  return bench.quiet(6_000);
}

/** The caller says something, and it is recognised. */
async function says(bench: CallBench, seg: number, text: string): Promise<void> {
  await bench.voice(400);
  await bench.quiet(660);
  await bench.recognised(seg, text).settle();
}

/** How long the carrier has played nothing when this comes true; 5 s at most. */
async function silentMsUntil(bench: CallBench, isSo: () => boolean): Promise<number> {
  while (!bench.attachment.playing) await bench.quiet(20);
  while (bench.attachment.playing) await bench.quiet(20);
  for (let ms = 0; ms < 5_000; ms += 20) {
    if (isSo()) return ms;
    await bench.quiet(20);
  }
  return Number.POSITIVE_INFINITY;
}

describe.each(wrongly)('a carrier that returns marks $note', ({ echo }) => {
  it('is noticed within a call: the numbers and the record say that what was heard is estimated', async () => {
    using bench = await opened(echo);
    expect((await bench.metrics.render()).body).toContain('offhook_carrier_marks_missing{carrier="bench"} 1');
    const { playout, timeline, turns } = await bench.hangUp('done');
    expect(playout).toMatchObject({ heardEstimated: 1 });
    expect(playout.marksReturned).toBeLessThan(playout.marksSent ?? 0);
    expect(timeline.filter((event) => event.type === 'problem' && event.detail.includes('estimated'))).toHaveLength(1);
    expect(turns.map(({ botHeardText }) => botHeardText)).toEqual(['Hello, how can I help you today?', ANSWER]);
  });

  it('holds nothing up: the bot hangs up, and listens, soon after its words', async () => {
    using bench = await opened(echo);
    await says(bench, 1, 'when');
    expect(await silentMsUntil(bench, () => bench.session.standing.phase === 'listening')).toBeLessThanOrEqual(40);
    await says(bench, 2, 'bye');
    const afterMs = await silentMsUntil(bench, () => bench.attachment.closedBecause !== undefined);
    expect(afterMs).toBeGreaterThanOrEqual(360);
    expect(afterMs).toBeLessThanOrEqual(460);
  });

  it('has what an interrupted caller heard told by the clock of the samples, as with one that returns them', async () => {
    const heardOf = async (kind: Echo): Promise<string | undefined> => {
      using bench = await opened(kind);
      await says(bench, 1, 'when');
      while (!bench.attachment.playing) await bench.quiet(20);
      await bench.quiet(1_500);
      await bench.voice(1_000);
      await bench.quiet(660);
      await bench.recognised(2, 'stop').settle();
      const { turns, sentences } = await bench.hangUp('done');
      const cut = sentences.find(({ turnIndex }) => turnIndex === 2);
      expect(cut?.heard.likelyMs).toBeGreaterThan(1_400);
      return turns[2]?.botHeardText;
    };
    const heard = await heardOf(echo);
    expect(heard).toMatch(/^We open at nine/u);
    expect(heard).toBe(await heardOf((name) => ({ name, lateMs: 0 })));
  });
});

it('does not suspect a carrier whose marks come back', async () => {
  using bench = await opened((name) => ({ name, lateMs: 80 }));
  const { playout } = await bench.hangUp('done');
  expect(playout.heardEstimated).toBeUndefined();
  expect(playout.marksReturned).toBe(playout.marksSent);
  expect((await bench.metrics.render()).body).toContain('offhook_carrier_marks_missing{carrier="bench"} 0');
});

it('waits for no mark of a carrier that returns them when it is idle, where more was said behind', async () => {
  using bench = new CallBench(dialog);
  const { attachment } = bench;
  attachment.capabilities = { ...attachment.capabilities, marksWhenIdle: true };
  // Of a sentence, the last one alone comes back.
  attachment.echoOf = (name) => (name.endsWith('.end') ? { name, lateMs: 60 } : undefined);
  await bench.start(2_500);
  await says(bench, 0, 'when');
  await bench.quiet(6_000);
  const { playout, sentences } = await bench.hangUp('done');
  expect(playout.heardEstimated).toBeUndefined();
  expect(sentences.map(({ heard }) => heard.sureMs === heard.likelyMs)).toEqual([true, true]);
});
