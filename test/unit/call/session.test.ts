import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';

/** Greets, then answers every turn with what it heard. */
async function* parrot(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today?' };
  if (turn.input.kind === 'spoken')
    yield { type: 'say', text: `You said ${turn.input.text === '' ? 'nothing' : turn.input.text}.` };
  if (turn.input.kind === 'keyed') yield { type: 'say', text: `You pressed ${turn.input.digits}.` };
  if (turn.input.kind === 'no-input') yield { type: 'say', text: 'Are you there?' };
  if (turn.input.kind === 'spoken' && turn.input.text === 'bye') yield { type: 'hangup', reason: 'goodbye' };
}

it('holds a conversation: greeting, a turn, a reply, and a record of all of it', async () => {
  using bench = new CallBench(parrot);
  await bench.start(2_500);
  await bench.voice(600);
  await bench.quiet(660);
  expect(bench.commits).toBe(1);
  await bench.recognised(0, 'tuesday').settle();
  await bench.quiet(2_000);
  expect(bench.asked.map(({ input }) => input)).toEqual([{ kind: 'start' }, { kind: 'spoken', text: 'tuesday', language: 'en' }]);
  expect(bench.asked[1]?.history).toEqual([{ role: 'bot', text: 'Hello, how can I help you today?' }]);
  const record = await bench.hangUp('done');
  expect(record.turns[1]).toMatchObject({
    callerText: 'tuesday',
    botText: 'You said tuesday.',
    botHeardText: 'You said tuesday.',
    interrupted: false,
  });
  expect(record.turns[1]?.latency).toMatchObject({ endpointing: 600, total: 660 });
});

/** The caller says goodbye to the greeting; the bot's own is being said. */
async function sayBye(bench: CallBench): Promise<void> {
  await bench.start(2_500);
  await bench.says(0, 'bye', 800);
}

it('hangs up 400 ms after the last mark of the goodbye, not before', async () => {
  using bench = new CallBench(parrot);
  await sayBye(bench);
  expect(bench.attachment.closedBecause).toBeUndefined();
  while (bench.attachment.playing) await bench.quiet(20);
  await bench.quiet(360);
  expect(bench.attachment.closedBecause).toBeUndefined();
  await bench.quiet(80);
  expect(bench.attachment.closedBecause).toBe('goodbye');
  expect((await bench.session.ended).endReason).toBe('goodbye');
});

it.each([
  { note: 'a caller who begins to answer its goodbye', voiceMs: 900, hangsUpBy: undefined },
  { note: 'a cough', voiceMs: 60, hangsUpBy: 'goodbye' },
])('waits for what comes of it, and not for longer, after $note', async ({ voiceMs, hangsUpBy }) => {
  using bench = new CallBench(parrot);
  await sayBye(bench);
  while (bench.attachment.playing) await bench.quiet(20);
  await bench.quiet(200);
  await bench.voice(voiceMs);
  expect(bench.attachment.closedBecause).toBeUndefined();
  await bench.quiet(700);
  expect(bench.attachment.closedBecause).toBe(hangsUpBy);
  bench.recognised(1, 'one more thing');
  await bench.quiet(40);
  expect(bench.asked.length).toBe(hangsUpBy === undefined ? 3 : 2);
});

it('stops at the carrier when the caller talks over it, and tells the dialog only what was heard', async () => {
  using bench = new CallBench(parrot);
  await bench.start(900);
  await bench.voice(200);
  expect(bench.attachment.clears).toBe(1);
  expect(bench.attachment.playing).toBe(false);
  await bench.says(0, 'stop', 200, 600);
  const heard = bench.asked[1]?.history[0]?.text ?? '';
  expect(heard.length).toBeGreaterThan(5);
  expect('Hello, how can I help you today?'.startsWith(heard.replace(/ ?\w*—$/u, ''))).toBe(true);
  expect(heard).not.toContain('today');
});

it('counts a click that the bot paused for as held', async () => {
  using bench = new CallBench(parrot);
  await bench.start(600);
  await bench.voice(40);
  await bench.quiet(400);
  expect(bench.floor()).toEqual(['hold', 'resume']);
  const { body } = await bench.metrics.render();
  expect(body).toContain('offhook_interruptions_total{kind="held",cause="quiet"} 1');
  expect(body).not.toContain('kind="cleared"');
});

it('speaks on after a sound that was nothing', async () => {
  using bench = new CallBench(parrot);
  await bench.start(600);
  await bench.says(0, '', 3_000, 200, 700);
  expect(bench.floor()).toEqual(['hold', 'clear', 'restore']);
  expect(bench.asked).toHaveLength(1);
  const record = await bench.hangUp('done');
  expect(record.turns[0]).toMatchObject({ botHeardText: 'Hello, how can I help you today?' });
  expect(record.interruptions).toEqual([]);
});

it('keeps one call over two sockets: one record, one recording with a marked gap, one end', async () => {
  using bench = new CallBench(parrot);
  await bench.start(600);
  bench.attachment.emit({ type: 'closed', code: 1006, reason: 'connection lost' });
  await bench.wait(1_000);
  await bench.reattach();
  await bench.quiet(3_000);
  await bench.says(0, 'still here', 2_500, 500);
  bench.attachment.emit({ type: 'stopped', reason: 'hang up' });
  await bench.wait(2_000);
  const record = await bench.session.ended;
  expect(record.endReason).toBe('caller-hangup');
  expect(record.attachments).toHaveLength(2);
  expect(record.turns.map(({ botHeardText }) => botHeardText)).toEqual([
    'Hello, how can I help you today?',
    'You said still here.',
  ]);
  expect(record.recordingGaps).toHaveLength(1);
  const [gap] = record.recordingGaps;
  expect(gap!.toMs - gap!.fromMs).toBeGreaterThan(900);
  const wav = parseWav(readFileSync(record.recordingPath!));
  expect(wav).toMatchObject({ channels: 2, rateHz: 8_000 });
  const totalMs = wav.samples[0]!.length / 8;
  // The recording goes on while the call waits to see whether the line comes back.
  expect(Math.abs(totalMs - (700 + 1_000 + 3_000 + 500 + 660 + 2_500 + 1_500))).toBeLessThan(60);
});

it('ends a call whose socket died and never came back', async () => {
  using bench = new CallBench(parrot);
  await bench.start();
  bench.attachment.emit({ type: 'closed', code: 1006, reason: 'connection lost' });
  await bench.wait(10_020);
  expect((await bench.session.ended).endReason).toBe('carrier-lost');
});

it('records the caller left and the bot right, silent where it was silenced', async () => {
  using bench = new CallBench(parrot);
  await bench.start(900);
  await bench.voice(600);
  await bench.quiet(600);
  const record = await bench.hangUp('done');
  const [caller, bot] = parseWav(readFileSync(record.recordingPath!)).samples;
  const level = (channel: Int16Array | undefined, fromMs: number, toMs: number): number =>
    rmsLevelDb(channel!.subarray(fromMs * 8, toMs * 8));
  expect(level(caller, 200, 900)).toBeLessThan(-80);
  expect(level(caller, 1_020, 1_180)).toBeGreaterThan(-20);
  expect(level(bot, 200, 1_000)).toBeGreaterThan(-30);
  expect(level(bot, 1_220, 2_000)).toBeLessThan(-80);
});

it('asks again when the dialog fails, and gives up with an apology', async () => {
  using bench = new CallBench(async function* (turn) {
    if (turn.input.kind !== 'start') throw new Error('dialog is down');
    yield { type: 'say', text: 'Hello.' };
  });
  await bench.start(800);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await bench.says(attempt, 'hello', 6_000);
  }
  await bench.quiet(3_000);
  expect((await bench.session.ended).endReason).toBe('dialog-failed');
});

it('apologises and hangs up when the recogniser is gone for good', async () => {
  using bench = new CallBench(parrot);
  await bench.start(2_500);
  bench.recogniserCloses(new Error('gone'));
  await bench.quiet(8_000);
  const record = await bench.session.ended;
  expect(record.endReason).toBe('speech-unavailable');
  expect(record.sentences.at(-1)?.text).toMatch(/Goodbye|later/u);
});

it('hangs up cleanly when not even the apology can be spoken', async () => {
  using bench = new CallBench(parrot);
  bench.synthesisFails = true;
  await bench.start(200);
  const { endReason, turns } = await bench.session.ended;
  expect(endReason).toBe('speech-unavailable');
  expect(turns.map(({ botHeardText }) => botHeardText)).toEqual(['']);
  expect(bench.attachment.closedBecause).toBe('speech-unavailable');
});

it('takes a turn back when the caller goes on, and keeps its number', async () => {
  using bench = new CallBench(async function* (turn, signal) {
    if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello.' };
    else {
      await new Promise<void>((resolve) => {
        const timer = bench.clock.after(600, resolve);
        signal.addEventListener('abort', () => {
          timer.cancel();
          resolve();
        });
      });
      yield { type: 'say', text: 'Thank you.' };
    }
  });
  await bench.start(800);
  await bench.says(0, 'on tuesday', 100);
  await bench.says(1, 'at ten', 2_000);
  expect(bench.asked.map(({ index, input }) => [index, input.kind === 'spoken' ? input.text : ''])).toEqual([
    [0, ''],
    [1, 'on tuesday'],
    [1, 'on tuesday at ten'],
  ]);
});

it('collects keys and tells the dialog', async () => {
  using bench = new CallBench(parrot);
  await bench.start(500);
  bench.attachment.emit({ type: 'digit', digit: '1' });
  await bench.quiet(2_100);
  expect(bench.asked.at(-1)?.input).toEqual({ kind: 'keyed', digits: '1' });
  expect(bench.attachment.clears).toBe(1);
});

it('says once that a minute is left, with the next reply', async () => {
  using bench = new CallBench(parrot, { maxDurationMs: 125_000, noInputMs: 100_000 });
  await bench.start(1_000);
  const say = async (seg: number): Promise<void> => {
    await bench.says(seg, 'tea', 5_000, 500);
  };
  await say(0);
  await bench.quiet(60_000);
  await say(1);
  await say(2);
  const replies = (await bench.hangUp('done')).turns
    .filter(({ callerText }) => callerText === 'tea')
    .map(({ botText }) => botText);
  expect(replies.map((text) => text.includes('about a minute left'))).toEqual([false, true, false]);
});

it('ends a call that lasts too long with a goodbye', async () => {
  using bench = new CallBench(parrot, { maxDurationMs: 5_000 });
  await bench.start(9_000);
  expect((await bench.session.ended).endReason).toBe('max-duration');
});

it('speaks a text that comes in parts sentence by sentence, without its markup', async () => {
  const parts = ['**Hel', 'lo** there. How ', 'are you? I am f', 'ine'];
  using bench = new CallBench(async function* () {
    for (const text of parts) yield { type: 'say', text, more: true };
  });
  await bench.start(4_000);
  const record = await bench.hangUp('done');
  expect(record.sentences.map(({ text }) => text)).toEqual(['Hello there.', 'How are you?', 'I am fine']);
});

it('has a note in the journal before its bot goes on, and what was set once its answer is whole', async () => {
  const seen: (readonly string[] | undefined)[] = [];
  using bench = new CallBench(async function* () {
    yield { type: 'note', text: 'request book: idempotency-key k' };
    seen.push(bench.journal.at(-1)?.notes);
    yield { type: 'set', variables: { booking: '7' } };
    yield { type: 'say', text: 'Hello.' };
  });
  await bench.start(1_000);
  expect(seen).toEqual([['request book: idempotency-key k']]);
  expect(bench.journal.at(-1)?.variables).toEqual({ booking: '7' });
});
