import { describe, expect, it } from 'vitest';
import { decodeMulaw, encodeMulaw } from '../../../../../src/audio/g711.ts';
import { rmsLevelDb } from '../../../../../src/audio/level.ts';
import { seededRandom } from '../../../../../src/audio/tone.ts';
import { EchoGuard } from '../../../../../src/call/inbound/echo/echo-guard.ts';
import { babble } from './babble.ts';
import { thorough } from '../../../../support/thorough.ts';

const FRAME = 160;

interface Heard {
  readonly nowMs: number;
  readonly voiced: boolean;
  readonly explained: boolean;
}

interface Scene {
  /** What the bot says, and from when. */
  readonly bot: readonly { readonly pcm: Int16Array; readonly startMs: number }[];
  readonly caller?: { readonly pcm: Int16Array; readonly startMs: number };
  readonly gainDb: number;
  /** By the time at which it is heard. */
  readonly delayMs: (nowMs: number) => number;
  readonly ms: number;
  /** The loudspeaker bends what is above this share of the full scale. */
  readonly clipAt?: number;
}

/** Plays a scene over a mu-law line with a little noise; any frame above −50 dBFS counts as voiced. */
function play(scene: Scene, guard = new EchoGuard()): Heard[] {
  const random = seededRandom(4);
  const played = new Int16Array(scene.ms * 8);
  for (const { pcm, startMs } of scene.bot) played.set(pcm, startMs * 8);
  const gain = 10 ** (scene.gainDb / 20);
  const line = Int16Array.from(played, (_, index) => {
    const sound = played[index - Math.round(scene.delayMs(index / 8) * 8)] ?? 0;
    const limit = 32_768 * (scene.clipAt ?? 1);
    const echo = gain * (scene.clipAt === undefined ? sound : limit * Math.tanh(sound / limit));
    const caller = scene.caller?.pcm[index - scene.caller.startMs * 8] ?? 0;
    return Math.round(echo + caller + (random() - 0.5) * 40);
  });
  const carried = decodeMulaw(encodeMulaw(line));
  const heard: Heard[] = [];
  const messages = scene.bot.flatMap(({ pcm, startMs }) =>
    Array.from({ length: Math.ceil(pcm.length / 800) }, (_, index) => ({
      pcm: pcm.slice(index * 800, (index + 1) * 800),
      startMs: startMs + index * 100,
    })),
  );
  for (let at = 0; at < carried.length; at += FRAME) {
    const nowMs = at / 8 + 20;
    while (messages[0] !== undefined && messages[0].startMs < nowMs + 400) {
      const message = messages.shift();
      if (message !== undefined) guard.sent(message.pcm, message.startMs, 0);
    }
    const frame = carried.subarray(at, at + FRAME);
    guard.arrived(FRAME, at / 8, nowMs);
    const voiced = rmsLevelDb(frame) > -50;
    heard.push({ nowMs, voiced, explained: guard.explains(frame, voiced) });
  }
  return heard;
}

const unexplained = (heard: readonly Heard[], fromMs = 0, untilMs = Number.POSITIVE_INFINITY): number[] =>
  heard
    .filter(({ nowMs, voiced, explained }) => voiced && !explained && nowMs > fromMs && nowMs <= untilMs)
    .map(({ nowMs }) => nowMs);

const greeting = { pcm: babble(4_000, 1), startMs: 1_000 };

describe("the bot's own voice", () => {
  it.each([
    { delayMs: 40, gainDb: -6 },
    { delayMs: 333, gainDb: -20 },
    { delayMs: 1_200, gainDb: -26 },
  ])('is known from the first word of a call: $delayMs ms late, $gainDb dB', ({ delayMs, gainDb }) => {
    const heard = play({ bot: [greeting], gainDb, delayMs: () => delayMs, ms: 7_000 });
    expect(heard.filter(({ voiced }) => voiced).length).toBeGreaterThan(100);
    // The very first sound of a call is too short to be told from any other; one frame starts no contest.
    expect(unexplained(heard).length).toBeLessThanOrEqual(1);
  });

  it('has a delay that is measured to the millisecond, 20 ms of framing included', () => {
    const guard = new EchoGuard();
    play({ bot: [greeting], gainDb: -12, delayMs: () => 500, ms: 5_000 }, guard);
    expect(guard.delayMs).toBeGreaterThan(519);
    expect(guard.delayMs).toBeLessThan(521);
  });

  it.each([60, -60, 400])('is found again within 2 s when its delay jumps by %i ms', (byMs) => {
    const guard = new EchoGuard();
    const bot = [{ pcm: babble(8_000, 2), startMs: 500 }];
    const heard = play({ bot, gainDb: -12, delayMs: (nowMs) => (nowMs < 3_000 ? 500 : 500 + byMs), ms: 9_000 }, guard);
    expect(unexplained(heard, 5_000)).toEqual([]);
    expect(unexplained(heard).length).toBeLessThanOrEqual(4);
    expect(Math.abs(guard.delayMs! - 520 - byMs)).toBeLessThan(10);
  });

  it('is known although each sentence starts a little off the playout clock', () => {
    const sentences = Array.from({ length: 5 }, (_, index) => ({
      pcm: babble(1_500, 10 + index),
      startMs: 1_000 + index * 3_000,
    }));
    const heard = play({
      bot: sentences,
      gainDb: -12,
      delayMs: (nowMs) => 300 + 15 * (Math.floor((nowMs + 500) / 3_000) % 2),
      ms: 16_000,
    });
    expect(unexplained(heard, 2_000).length).toBeLessThanOrEqual(2);
  });

  it('is known although a loudspeaker that is driven too hard adds to its vowels', () => {
    const bot = [{ pcm: babble(5_000, 3), startMs: 500 }];
    const heard = play({ bot, gainDb: -10, delayMs: () => 300, ms: 6_000, clipAt: 0.2 });
    expect(unexplained(heard, 2_000).length).toBeLessThanOrEqual(2);
  });

  it('is not looked for once it was taken back', () => {
    const guard = new EchoGuard();
    const pcm = babble(1_000, 1);
    guard.arrived(FRAME, 0, 20);
    guard.sent(pcm, 1_000, 0);
    guard.cleared(900);
    const heard = play({ bot: [], caller: { pcm, startMs: 1_200 }, gainDb: 0, delayMs: () => 0, ms: 3_000 }, guard);
    expect(heard.filter(({ explained }) => explained)).toEqual([]);
  });
});

describe('a caller', () => {
  it.each([6, 0, -6])('who speaks into the echo, %i dB against it, is heard within the time of a contest', (callerDb) => {
    const gainDb = -12;
    for (let seed = 20; seed < thorough(22, 26); seed += 1) {
      const gain = 10 ** ((gainDb + callerDb) / 20);
      const caller = { pcm: babble(800, seed, 210).map((sample) => sample * gain), startMs: 3_000 };
      const heard = play({ bot: [greeting], caller, gainDb, delayMs: () => 250, ms: 5_000 });
      expect(unexplained(heard, 3_000, 3_400).length, `caller ${seed}`).toBeGreaterThanOrEqual(6);
    }
  });

  it('on a line without echo is heard as if there were no guard', () => {
    const bot = [{ pcm: babble(6_000, 1), startMs: 500 }];
    for (let seed = 40; seed < thorough(44, 50); seed += 1) {
      const caller = { pcm: babble(2_000, seed, 210), startMs: 4_500 };
      const heard = play({ bot, caller, gainDb: -200, delayMs: () => 0, ms: 7_000 });
      expect(heard.filter(({ voiced }) => voiced).length).toBeGreaterThan(80);
      expect(heard.filter(({ explained }) => explained)).toEqual([]);
    }
  });

  it('who speaks before the line is known loses a frame here and there, and never an interruption', () => {
    for (let seed = 40; seed < thorough(44, 50); seed += 1) {
      const caller = { pcm: babble(2_000, seed, 210), startMs: 1_500 };
      const heard = play({ bot: [greeting], caller, gainDb: -200, delayMs: () => 0, ms: 5_000 });
      expect(heard.filter(({ explained }) => explained).length, `caller ${seed}`).toBeLessThanOrEqual(5);
      expect(unexplained(heard, 1_500, 1_800).length, `caller ${seed}`).toBeGreaterThanOrEqual(7);
    }
  });
});

describe('words', () => {
  const said = 'I have a free slot on Tuesday at half past ten';

  it("are the bot's when they come back with its voice alone", () => {
    const guard = new EchoGuard();
    guard.spoken.sounds('u1', said, 5_000);
    expect(guard.repeats('free slot on tuesday', 5_000)).toBe(false);
    play({ bot: [greeting], gainDb: -12, delayMs: () => 250, ms: 5_000 }, guard);
    expect(guard.repeats('free slot on tuesday', 5_000)).toBe(true);
    expect(guard.repeats('no wednesday please', 5_000)).toBe(false);
  });

  it("are the caller's when another voice was heard, whatever they are", () => {
    const guard = new EchoGuard();
    guard.spoken.sounds('u1', said, 5_000);
    const caller = { pcm: babble(900, 5, 210), startMs: 3_000 };
    play({ bot: [greeting], caller, gainDb: -12, delayMs: () => 250, ms: 5_000 }, guard);
    expect(guard.repeats('tuesday', 5_000)).toBe(false);
  });
});
