import { describe, expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';
import { TurnDriver } from './turn-driver.ts';

describe('words that may be all', () => {
  const eager = () => new TurnDriver({ askEarlyMs: 240 }).greeted();

  it('are asked about once, in the quiet before the turn ends', () => {
    const turn = eager().voice(600).partial(0, 'tuesday at ten').forget();
    expect(turn.quiet(220).kinds).toEqual([]);
    expect(turn.quiet(200).effects).toEqual([{ type: 'ask-early', text: 'tuesday at ten' }]);
    turn.forget().quiet(240);
    expect(turn.kinds).toEqual(['commit']);
    expect(turn.final(0, 'Tuesday at ten.').asked).toEqual(['Tuesday at ten.']);
  });

  it('are asked about again when they have changed, and not without end', () => {
    const turn = eager();
    for (const [seg, text] of ['one', 'two', 'three', 'four'].entries()) turn.voice(300).partial(seg, text).quiet(400);
    expect(turn.kinds.filter((kind) => kind === 'ask-early')).toHaveLength(3);
  });

  it('are not asked about while the sentence goes on, or for a bot that does not want it', () => {
    expect(eager().voice(600).partial(0, 'I would like to').quiet(600).kinds).not.toContain('ask-early');
    expect(new TurnDriver().greeted().voice(600).partial(0, 'yes').quiet(600).kinds).not.toContain('ask-early');
  });
});

describe('an answer made early', () => {
  const turns: DialogTurn[] = [];
  const aborted: string[] = [];
  async function* dialog(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    turns.push(turn);
    const text = turn.input.kind === 'spoken' ? turn.input.text : turn.input.kind;
    signal.addEventListener('abort', () => aborted.push(text));
    yield { type: 'set', variables: { heard: text } };
    yield { type: 'say', text: `Got ${text}.` };
  }
  async function calling(): Promise<CallBench> {
    turns.length = 0;
    aborted.length = 0;
    const bench = new CallBench(dialog, { askEarly: true });
    await bench.start();
    return bench.quiet(1_500);
  }

  it('has its first sentence spoken while the silence is waited for, once', async () => {
    using bench = await calling();
    await bench.voice(600);
    bench.partial(0, 'tuesday');
    const before = bench.askedAs.length;
    await bench.quiet(500);
    expect([bench.askedAs.length - before, bench.attachment.playing]).toEqual([1, false]);
    await bench.quiet(160);
    // The synthesizer would answer no more: what was made is heard.
    bench.synthesisFails = true;
    bench.recognised(0, 'Tuesday.');
    await bench.quiet(40);
    expect(bench.attachment.playing).toBe(true);
    expect(bench.askedAs.length - before).toBe(1);
  });

  it('is spoken by another request when its sentence could not be spoken early', async () => {
    using bench = await calling();
    await bench.voice(600);
    bench.partial(0, 'tuesday');
    bench.synthesisFails = true;
    await bench.quiet(660);
    bench.synthesisFails = false;
    bench.recognised(0, 'Tuesday.');
    await bench.quiet(40);
    expect(bench.attachment.playing).toBe(true);
  });

  it('is spoken as soon as the words turn out to be all', async () => {
    using bench = await calling();
    await bench.voice(600);
    bench.partial(0, 'tuesday');
    await bench.quiet(500);
    expect(turns.at(-1)).toMatchObject({ index: 1, early: true, input: { text: 'tuesday' }, history: [{ role: 'bot' }] });
    expect(bench.attachment.playing).toBe(false);
    await bench.quiet(160);
    bench.recognised(0, 'Tuesday.');
    await bench.quiet(40);
    expect(bench.attachment.playing).toBe(true);
    expect(turns).toHaveLength(2);
    const record = await bench.hangUp('done');
    expect(record.turns.at(-1)).toMatchObject({ callerText: 'Tuesday.', botText: 'Got tuesday.' });
    expect(record.timeline).toContainEqual(expect.objectContaining({ type: 'early-answer', turn: 1, hit: true }));
  });

  it('is thrown away, and leaves nothing behind, when the caller said more', async () => {
    using bench = await calling();
    await bench.voice(600);
    bench.partial(0, 'tuesday');
    await bench.quiet(400);
    await bench.voice(400);
    bench.partial(0, 'tuesday no friday');
    await bench.quiet(100);
    await bench.quiet(560);
    bench.recognised(0, 'tuesday no sunday');
    await bench.quiet(40);
    expect(aborted).toContain('tuesday');
    const last = turns.at(-1);
    expect(last).toMatchObject({ index: 1, input: { text: 'tuesday no sunday' }, variables: { heard: 'start' } });
    expect(last?.early).toBeUndefined();
    expect(new Set(turns.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(turns.length);
    const record = await bench.hangUp('done');
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'tuesday no sunday']);
    expect(record.variables).toEqual({ heard: 'tuesday no sunday' });
    expect(record.timeline).toContainEqual(expect.objectContaining({ type: 'early-answer', hit: false }));
  });
});
