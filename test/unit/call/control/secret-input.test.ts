import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseWav } from '../../../../src/audio/wav.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { CallBench } from '../call-bench.ts';

const CARD = '4111111111111111';

async function* cashier(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.index === 1) {
    yield { type: 'gather', contract: { kind: 'card' } };
    yield { type: 'say', text: 'Your card number, please.' };
  } else if (turn.index === 2) {
    yield { type: 'gather', contract: { kind: 'otp', length: 6 } };
    yield { type: 'say', text: 'The code that we have sent you, please.' };
  } else yield { type: 'say', text: 'Hello.' };
}

/** How much of the sound is the tone of a key, 0 to 1, where it is most: the strongest of the eight, by Goertzel's algorithm. */
function toneShare(pcm: Int16Array): number {
  let most = 0;
  for (let at = 0; at + 160 <= pcm.length; at += 160) most = Math.max(most, toneShareOf(pcm.subarray(at, at + 160)));
  return most;
}

function toneShareOf(pcm: Int16Array): number {
  let energy = 0;
  for (let index = 0; index < pcm.length; index += 1) energy += pcm[index]! ** 2;
  if (energy === 0) return 0;
  const power = (hertz: number): number => {
    const coefficient = 2 * Math.cos((2 * Math.PI * hertz) / 8_000);
    let [one, two] = [0, 0];
    for (let index = 0; index < pcm.length; index += 1) [one, two] = [pcm[index]! + coefficient * one - two, one];
    return (2 * (one * one + two * two - coefficient * one * two)) / (energy * pcm.length);
  };
  return Math.max(...[697, 770, 852, 941, 1209, 1336, 1477, 1633].map(power));
}

async function keyIn(bench: CallBench, digits: string): Promise<void> {
  for (const digit of digits) {
    await bench.tone(digit, 100);
    bench.attachment.emit({ type: 'digit', digit });
    await bench.quiet(60);
  }
}

it('keeps a card number from everything but the vault', async () => {
  using bench = new CallBench(cashier);
  await bench.start(500);
  await keyIn(bench, '5');
  await bench.quiet(2_100);
  const before = bench.listened.length;
  await keyIn(bench, CARD);
  await bench.quiet(300);
  const { input } = bench.asked.at(-1)!;
  expect(input).toMatchObject({ kind: 'keyed', digits: '************1111', answer: { status: 'complete' } });
  const token = input.kind === 'keyed' && input.answer?.status === 'complete' ? input.answer.value : '';
  await keyIn(bench, '804715');
  await bench.quiet(1_000);
  expect(bench.asked.at(-1)?.input).toMatchObject({ kind: 'keyed', digits: '******', answer: { status: 'complete' } });
  const record = await bench.hangUp('done');
  const written = JSON.stringify([record, bench.news, bench.journal, bench.asked]);
  for (const part of [CARD, CARD.slice(0, 12), CARD.slice(-8), '804715', '"8"']) expect(written).not.toContain(part);
  expect(bench.listened.slice(before).every((sample) => sample === 0)).toBe(true);
  const [caller] = parseWav(readFileSync(record.recordingPath!)).samples;
  const secretFrom = caller!.length - (bench.listened.length - before);
  expect(toneShare(caller!.subarray(secretFrom))).toBe(0);
  expect(toneShare(caller!.subarray(0, secretFrom))).toBeGreaterThan(0.3);

  expect(bench.vault.redeem('other', token)).toBeUndefined();
  expect(bench.vault.redeem('bench', token)).toBe(CARD);
  expect(bench.vault.redeem('bench', token)).toBeUndefined();
});

it('keeps card numbers, passwords and tokens that a bot sets or notes out of the record, and what it forgets as well', async () => {
  const told: Record<string, string>[] = [];
  using bench = new CallBench(async function* (turn) {
    told.push(turn.variables);
    if (turn.index === 0) {
      yield { type: 'gather', contract: { kind: 'otp', length: 6 } };
      return yield { type: 'say', text: 'The code, please.' };
    }
    if (turn.index !== 1) return;
    const token = turn.input.kind === 'keyed' && turn.input.answer?.status === 'complete' ? turn.input.answer.value : '';
    yield { type: 'set', variables: { token, code: '804715', card: CARD, day: '2026-01-06', forgotten: 'yes' } };
    yield { type: 'set', variables: { forgotten: '', phone: '+4915112345678' } };
    yield { type: 'note', text: 'paid with 4111 1111 1111 1111, code 804 715, order 18047159' };
    // A call's id in which figures happen to have the form of a card number.
    yield { type: 'note', text: 'key call_d2ce4111111111111111c7428957b2a5.2.book.45dc, card 4111111111111111' };
    yield { type: 'say', text: 'Thank you.' };
    yield { type: 'gather', maxDigits: 1 };
  });
  await bench.start(2_000);
  await keyIn(bench, '804715');
  await bench.quiet(2_000);
  await keyIn(bench, '1');
  await bench.quiet(500);
  const { variables, notes } = await bench.hangUp('done');
  expect(told.at(-1)).toMatchObject({ code: '804715', token: expect.stringMatching(/^[\w-]{43}$/), forgotten: '' });
  expect(variables).toEqual({
    token: '*'.repeat(43),
    code: '******',
    card: '************1111',
    day: '2026-01-06',
    phone: '+4915112345678',
  });
  expect(notes).toEqual([
    'paid with ************1111, code *******, order 18047159',
    'key call_d2ce4111111111111111c7428957b2a5.2.book.45dc, card ************1111',
  ]);
});

it('keeps a card number secret whose caller says a word before, while the question is still being made', async () => {
  using bench = new CallBench(async function* (turn) {
    if (turn.index !== 1) return yield { type: 'say', text: 'Hello.' };
    yield { type: 'gather', contract: { kind: 'card' } };
    await new Promise<void>((resolve) => bench.clock.after(900, resolve));
    yield { type: 'say', text: 'Your card number, please.' };
  });
  await bench.start(500);
  await keyIn(bench, '5');
  await bench.quiet(2_100);
  bench.partial(0, 'okay');
  await keyIn(bench, CARD);
  await bench.quiet(300);
  const keyed = { kind: 'keyed', digits: '************1111', answer: { status: 'complete' } };
  expect(bench.asked.at(-1)?.input).toMatchObject(keyed);
  expect(JSON.stringify([await bench.hangUp('done'), bench.news, bench.journal, bench.asked])).not.toContain(CARD);
});

it('keeps a card number secret whose caller had to look for the card, and begins while they are asked again', async () => {
  using bench = new CallBench(async function* (turn) {
    if (turn.input.kind !== 'start') await new Promise<void>((resolve) => bench.clock.after(800, resolve));
    if (turn.input.kind === 'keyed') return yield { type: 'say', text: 'Thank you.' };
    yield { type: 'say', text: 'Please key your card number.' };
    yield { type: 'gather', contract: { kind: 'card' } };
  });
  await bench.start();
  while (bench.asked.length < 2) await bench.quiet(20);
  await bench.quiet(100);
  const before = bench.listened.length;
  await keyIn(bench, CARD);
  await bench.quiet(300);
  const keyed = { kind: 'keyed', digits: '************1111', answer: { status: 'complete' } };
  expect(bench.asked.at(-1)?.input).toMatchObject(keyed);
  expect(bench.listened.slice(before).every((sample) => sample === 0)).toBe(true);
  expect(JSON.stringify([await bench.hangUp('done'), bench.news, bench.journal, bench.asked])).not.toContain(CARD);
});

it('expects nothing any more of a caller whose silence was answered with no other question', async () => {
  using bench = new CallBench(async function* (turn) {
    yield { type: 'say', text: 'Please key your card number.' };
    if (turn.input.kind === 'start') yield { type: 'gather', contract: { kind: 'card' } };
  });
  await bench.start();
  while (bench.asked.length < 2) await bench.quiet(20);
  await bench.quiet(3_000);
  await keyIn(bench, '12#');
  expect(bench.asked.at(-1)?.input).toEqual({ kind: 'keyed', digits: '12' });
});

it('says what is wrong with a number without any of it, and asks for it again', async () => {
  using bench = new CallBench(cashier);
  await bench.start(500);
  await keyIn(bench, '5');
  await bench.quiet(2_100);
  await keyIn(bench, '4111111111111112');
  await bench.quiet(2_100);
  expect(bench.asked.at(-1)?.input).toEqual({
    kind: 'keyed',
    digits: '*'.repeat(16),
    answer: { status: 'impossible', soFar: '', why: 'check-digit' },
  });
});

it('does not take a card number from speech, and hears the caller again afterwards', async () => {
  using bench = new CallBench(cashier);
  await bench.start(500);
  await keyIn(bench, '5');
  await bench.quiet(2_100);
  const from = bench.listened.length;
  await bench.voice(1_000);
  expect(bench.listened.slice(from).some((sample) => sample !== 0)).toBe(false);
  await keyIn(bench, `${CARD}#`);
  await bench.quiet(300);
  await keyIn(bench, '123456');
  await bench.quiet(1_500);
  const later = bench.listened.length;
  await bench.voice(200);
  // What was waiting for the rest of its 100 ms, and then nothing but the caller.
  const since = bench.listened.slice(later);
  const heard = since.findIndex((sample) => sample !== 0);
  expect(heard).toBeLessThanOrEqual(640);
  expect(since.slice(heard).every((sample) => sample !== 0)).toBe(true);
});

it('hides a card number that is spoken where it should be keyed', async () => {
  using bench = new CallBench(cashier);
  await bench.start(500);
  await keyIn(bench, '5');
  await bench.quiet(2_100);
  // The line is silence by now: the words are of what was said before.
  bench.partial(0, 'it is 4111 1111 1111 1111');
  await bench.quiet(1_500);
  bench.recognised(0, 'it is 4111 1111 1111 1111');
  await bench.quiet(300);
  expect(bench.asked.at(-1)?.input).toMatchObject({ kind: 'spoken', text: 'it is ************1111' });
});

it('forgets unfetched values', async () => {
  using bench = new CallBench(cashier);
  const token = bench.vault.keep('bench', CARD);
  bench.clock.advance(15 * 60_000 + 1);
  expect(bench.vault.redeem('bench', token)).toBeUndefined();
});

it('hides a card number that is spoken unasked, from the bot and from the record, and none that was asked for', async () => {
  async function* clerk(turn: DialogTurn): AsyncIterable<DialogAction> {
    if (turn.index === 1) yield { type: 'gather', contract: { kind: 'digits', length: 16 } };
    yield { type: 'say', text: 'Yes?' };
  }
  using bench = new CallBench(clerk);
  await bench.start();
  for (const seg of [0, 1]) {
    await bench.quiet(1_000);
    await bench.says(seg, 'it is 4111 1111 1111 1111', 300, 600, 700);
  }
  expect(bench.asked.slice(1).map(({ input }) => (input.kind === 'spoken' ? input.text : input.kind))).toEqual([
    'it is ************1111',
    'it is 4111 1111 1111 1111',
  ]);
  const { turns } = await bench.hangUp('over');
  expect(turns[1]?.callerText).toBe('it is ************1111');
});
