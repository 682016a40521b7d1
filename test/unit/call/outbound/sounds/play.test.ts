import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../../../src/audio/g711.ts';
import { sine } from '../../../../../src/audio/tone.ts';
import { SoundError } from '../../../../../src/call/outbound/sounds/port.ts';
import { sleep } from '../../../../../src/kernel/waiting.ts';
import type { DialogAction } from '../../../../../src/dialog/port.ts';
import { CallBench } from '../../call-bench.ts';

const JINGLE: DialogAction = { type: 'play', source: 'jingle.wav' };

/** A call whose bot has a jingle of two seconds and answers with these actions, then with nothing. */
async function benchWith(actions: readonly DialogAction[], late: readonly DialogAction[] = []): Promise<CallBench> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const bench = new CallBench(async function* (turn) {
    if (turn.index > 0) return;
    yield* actions;
    if (late.length === 0) return;
    await released;
    yield* late;
  });
  releases.set(bench, release);
  bench.sounds = { play: (_folder, source) => jukebox(source) };
  return bench.start();
}

const releases = new WeakMap<CallBench, () => void>();

/** Two seconds of sound, if it is the jingle that is wanted. */
async function* jukebox(source: string): AsyncIterable<Uint8Array> {
  if (source !== 'jingle.wav') throw new SoundError('it is not there');
  for (let second = 0; second < 2; second += 1) yield encodeMulaw(sine(440, 1_000, 8_000));
}

describe('a sound in a call', () => {
  it('is heard in its place among the words, and stands in the record', async () => {
    using bench = await benchWith([JINGLE, { type: 'say', text: 'Welcome.' }]);
    await bench.quiet(4_000);
    expect(bench.attachment.sentSamples).toBe(16_000 + 480 * 8);
    const record = await bench.hangUp('over');
    expect(record.turns[0]?.botHeardText).toBe('[audio jingle.wav] Welcome.');
  });

  it('has the words that are given beside it, in the history', async () => {
    using bench = await benchWith([{ ...JINGLE, text: 'Our jingle.' }]);
    await bench.quiet(2_500);
    await bench.voice(300);
    await bench.quiet(700);
    await bench.recognised(0, 'hello').quiet(300);
    expect(bench.asked[1]?.history).toEqual([{ role: 'bot', text: 'Our jingle.' }]);
  });

  it('is interrupted by a caller as words are, and what was heard of it is known', async () => {
    using bench = await benchWith([{ ...JINGLE, text: 'Ding dong ding dong' }]);
    await bench.quiet(800);
    await bench.voice(600);
    expect(bench.floor()).toEqual(['hold', 'clear']);
    const turn = (await bench.hangUp('over')).turns[0];
    expect(turn?.interrupted).toBe(true);
    expect(turn?.botHeardText).toMatch(/^Ding( dong)?/u);
    expect(turn?.botHeardText).not.toContain('Ding dong ding dong');
  });

  it('plays on through a cough', async () => {
    using bench = await benchWith([JINGLE]);
    await bench.quiet(500);
    await bench.voice(60);
    await bench.quiet(3_000);
    expect(bench.floor()).not.toContain('clear');
    expect((await bench.hangUp('over')).turns[0]).toMatchObject({ botHeardText: '[audio jingle.wav]', interrupted: false });
  });

  it('that may not be interrupted is not', async () => {
    using bench = await benchWith([{ ...JINGLE, interruptible: 'never' }]);
    await bench.quiet(500);
    await bench.voice(600);
    expect(bench.floor()).toEqual([]);
    expect(bench.attachment.clears).toBe(0);
  });

  it('is played so often as is asked for, and told of once', async () => {
    using bench = await benchWith([{ ...JINGLE, loop: 3 }]);
    await bench.quiet(7_000);
    expect(bench.attachment.sentSamples).toBe(3 * 16_000);
    expect((await bench.hangUp('over')).turns[0]?.botHeardText).toBe('[audio jingle.wav]');
  });

  it('gives way to what follows, within what the carrier has of it', async () => {
    using bench = await benchWith([{ ...JINGLE, loop: 1_000, preemptible: true }], [{ type: 'say', text: 'Here I am.' }]);
    await bench.quiet(1_000);
    const before = bench.attachment.sentSamples;
    releases.get(bench)?.();
    await bench.settle();
    await bench.quiet(2_500);
    // 20 ms to fade, and the sentence.
    expect(bench.attachment.sentSamples - before).toBeLessThanOrEqual(160 + 600 * 8);
    expect((await bench.hangUp('over')).turns[0]?.botHeardText).toBe('[audio jingle.wav] Here I am.');
  });

  it('that gives way is not begun where something follows already', async () => {
    using bench = await benchWith([
      { ...JINGLE, preemptible: true },
      { type: 'say', text: 'Welcome.' },
    ]);
    await bench.quiet(3_000);
    expect(bench.attachment.sentSamples).toBeLessThan(16_000);
  });

  it('whose server says nothing does not end the call, not even two in a row', async () => {
    using bench = new CallBench(async function* (turn) {
      if (turn.index > 0) return;
      yield { type: 'play', source: 'https://example.org/a.wav' };
      yield { type: 'play', source: 'https://example.org/b.wav' };
      yield { type: 'say', text: 'Welcome.' };
    });
    bench.sounds = {
      async *play(_folder, _source, _format, signal) {
        await sleep(bench.clock, 4_000, signal);
        if (!signal.aborted) throw new SoundError('it did not come');
        yield new Uint8Array();
      },
    };
    await bench.start(9_500);
    expect(bench.attachment.closedBecause).toBeUndefined();
    expect((await bench.hangUp('over')).turns[0]?.botHeardText).toBe('Welcome.');
  });

  it('that is not there costs nothing but its place: the words beside it are said', async () => {
    using bench = await benchWith([
      { type: 'play', source: 'none.wav', text: 'Ding.' },
      { type: 'play', source: 'none.wav' },
      { type: 'say', text: 'Welcome.' },
    ]);
    await bench.quiet(3_000);
    expect(bench.warnings).toEqual(['playing a sound failed', 'playing a sound failed']);
    expect((await bench.hangUp('over')).turns[0]?.botHeardText).toBe('Ding. Welcome.');
  });
});
