import { expect, it } from 'vitest';
import { HeardSound } from '../../../../src/call/recording/heard-sound.ts';

const RATES = { rateHz: 8_000, sentRateHz: 8_000 };
const frame = (value: number): Int16Array => new Int16Array(160).fill(value);

/** A call of a caller and a bot whose samples never change, with somebody who listens from the start. */
function listened(sound = new HeardSound(undefined, 600, RATES)) {
  const heard: number[] = [];
  const channel = (which: 0 | 1): number[] => heard.filter((_, at) => at % 2 === which);
  const stop = sound.listen((stereo) => heard.push(...new Int16Array(stereo.buffer, stereo.byteOffset, stereo.length / 2)));
  let nowMs = 1_000;
  const talk = (ms: number, caller: number, bot: number): void => {
    for (let passed = 0; passed < ms; passed += 20) {
      nowMs += 20;
      sound.caller(frame(caller), nowMs - 1_020, nowMs, nowMs);
      if (bot !== 0) sound.bot(frame(bot), nowMs, nowMs);
      sound.tick(nowMs);
    }
  };
  return { sound, heard, channel, stop, talk, now: () => nowMs };
}

it('lets who listens hear the caller on the left and the bot on the right, less than 300 ms behind, though nothing is recorded', () => {
  const { channel, talk } = listened();
  talk(1_000, 5, 7);
  const [left, right] = [channel(0), channel(1)];
  expect(left.length / 8).toBeGreaterThan(1_000 - 300);
  expect(left.slice(0, 4_000).every((sample) => sample === 5)).toBe(true);
  expect(right.slice(400, 4_000).every((sample) => sample === 7)).toBe(true);
});

it('is silent for listeners from where a recording is silenced, and where the bot was cut', () => {
  const { sound, channel, talk, now } = listened();
  talk(400, 5, 7);
  sound.bot(new Int16Array(4_000).fill(7), now(), now());
  sound.cleared(now());
  sound.silenceCaller(now() - 60);
  talk(800, 0, 0);
  const [left, right] = [channel(0), channel(1)];
  expect(left.lastIndexOf(5) / 8).toBeLessThanOrEqual(400 - 40);
  expect(right.lastIndexOf(7) / 8).toBeLessThanOrEqual(400 + 20);
});

it('makes nothing for listeners once the last one has left, and lets no more in than there may be', () => {
  const { sound, heard, stop, talk } = listened();
  stop?.();
  talk(500, 5, 7);
  expect(heard).toEqual([]);
  const all = Array.from({ length: 20 }, () => sound.listen(() => undefined));
  expect(all.every((each) => each !== undefined)).toBe(true);
  expect(sound.listen(() => undefined)).toBeUndefined();
});
