import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeMulaw, encodeMulaw } from '../../../../src/audio/g711.ts';
import { MULAW_8K } from '../../../../src/audio/format.ts';
import { CallerAudio } from '../../../../src/dialog/realtime/caller-audio.ts';

const FRAME = 160;
/** A frame whose samples tell its number. */
const frame = (number: number): Int16Array => decodeMulaw(new Uint8Array(FRAME).fill(number % 127));
const codeOf = (number: number): number => encodeMulaw(frame(number))[0] ?? -1;

function audioTo(takes: () => boolean = () => true, always = false) {
  const sent: number[] = [];
  let firsts = 0;
  let withdrawn = 0;
  const sink = {
    get takes() {
      return takes();
    },
    send(bytes: Uint8Array, isFirst: boolean) {
      if (isFirst) firsts += 1;
      for (let at = 0; at < bytes.length; at += FRAME) sent.push(bytes[at] ?? -1);
    },
    withdraw: () => void (withdrawn += 1),
  };
  const audio = new CallerAudio(sink, always);
  audio.open(8_000, MULAW_8K);
  return { audio, sent, firsts: () => firsts, withdrawn: () => withdrawn };
}

it('sends a turn with the 600 ms before it, in order and without a hole', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 5, max: 60 }), (before, spoken) => {
      const { audio, sent, firsts } = audioTo();
      for (let number = 0; number < before + spoken; number += 1) audio.hear(frame(number), number >= before);
      const ms = audio.commit();
      const kept = Math.min(before, 30);
      expect(sent).toEqual(Array.from({ length: kept + spoken }, (_, at) => codeOf(before - kept + at)));
      expect([ms, firsts()]).toEqual([(kept + spoken) * 20, 1]);
    }),
    { numRuns: 40 },
  );
});

it('sends nothing of a silent line', () => {
  const { audio, sent } = audioTo();
  for (let number = 0; number < 500; number += 1) audio.hear(frame(number), false);
  expect([sent, audio.commit()]).toEqual([[], 0]);
});

it('withdraws a sound that became no turn after two seconds', () => {
  const { audio, withdrawn } = audioTo();
  for (let number = 0; number < 10; number += 1) audio.hear(frame(number), true);
  for (let number = 0; number < 99; number += 1) audio.hear(frame(number), false);
  expect(withdrawn()).toBe(0);
  audio.hear(frame(1), false);
  audio.hear(frame(1), false);
  expect([withdrawn(), audio.isTurn]).toEqual([1, false]);
});

it('keeps a turn until the vendor takes it, a minute of it at most', () => {
  let takes = false;
  const { audio, sent } = audioTo(() => takes);
  for (let number = 0; number < 3_100; number += 1) audio.hear(frame(number), true);
  takes = true;
  expect(audio.commit()).toBe(60_000);
  expect(sent).toHaveLength(3_000);
});
