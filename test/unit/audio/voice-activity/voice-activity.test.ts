import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { decodeMulaw, encodeMulaw } from '../../../../src/audio/g711.ts';
import { rmsLevelDb } from '../../../../src/audio/level.ts';
import { resample } from '../../../../src/audio/resample.ts';
import { noise, seededRandom } from '../../../../src/audio/tone.ts';
import { loadVoiceActivity, type VoiceActivity, type VoiceVerdict } from '../../../../src/audio/voice-activity/voice-activity.ts';
import { parseWav } from '../../../../src/audio/wav.ts';
import { click, cough } from '../../../../src/sim/caller/cough.ts';

let makeDetector: () => VoiceActivity;
beforeAll(async () => {
  makeDetector = await loadVoiceActivity();
});

const FRAME = 160;
const QUIET_FRAMES = 100;

/** A vowel as a vocal tract makes it: harmonics of a gliding pitch under three formants, soft at both ends. */
function vowel(pitchHz: number, ms: number, levelPeak = 8000): Int16Array {
  const length = ms * 8;
  let phase = 0;
  return Int16Array.from({ length }, (_, at) => {
    const glide = pitchHz * (1 + 0.1 * Math.sin((Math.PI * at) / length));
    phase += (2 * Math.PI * glide) / 8000;
    let sum = 0;
    for (let harmonic = 1; harmonic * glide < 3400; harmonic += 1) {
      const hz = harmonic * glide;
      const formant = [700, 1200, 2500].reduce((gain, centre) => gain + Math.exp(-(((hz - centre) / 250) ** 2)), 0.08);
      sum += formant * Math.sin(harmonic * phase);
    }
    const envelope = Math.min(1, at / 160, (length - at) / 320);
    return Math.round((levelPeak * envelope * sum) / 4);
  });
}

interface Heard extends VoiceVerdict {
  readonly noiseFloorDb: number;
}

/** What the detector says, 20 ms at a time, about a sound on a line that hissed for two seconds before it. */
function judge(sound: Int16Array, hiss = 0.0004): { before: Heard[]; during: Heard[]; after: Heard[] } {
  const frames = Math.ceil(sound.length / FRAME);
  const line = noise((QUIET_FRAMES * 2 + frames) * 20, 8000, hiss, seededRandom(3));
  const from = QUIET_FRAMES * FRAME;
  for (let at = 0; at < sound.length; at += 1) {
    line[from + at] = Math.max(-32_768, Math.min(32_767, line[from + at]! + sound[at]!));
  }
  const detector = makeDetector();
  const heard = decodeMulaw(encodeMulaw(line));
  const verdicts: Heard[] = [];
  for (let at = 0; at + FRAME <= heard.length; at += FRAME) {
    const verdict = detector.process(heard.subarray(at, at + FRAME));
    verdicts.push({ ...verdict, noiseFloorDb: detector.noiseFloorDb });
  }
  detector.close();
  return {
    before: verdicts.slice(0, QUIET_FRAMES),
    during: verdicts.slice(QUIET_FRAMES, QUIET_FRAMES + frames),
    after: verdicts.slice(QUIET_FRAMES + frames),
  };
}

const voiced = (verdicts: readonly VoiceVerdict[]): number => verdicts.filter((verdict) => verdict.voiced).length;
const pitched = (verdicts: readonly VoiceVerdict[]): number =>
  verdicts.filter((verdict) => verdict.voiced && verdict.speechLike >= 0.5).length;

describe('speech', () => {
  test.each([85, 120, 180, 250, 330])('a vowel at %d Hz is voice from its start, pitched, and ends with it', (pitchHz) => {
    const { before, during, after } = judge(vowel(pitchHz, 400));
    expect(voiced(before)).toBe(0);
    expect(during.slice(0, 3).some((verdict) => verdict.voiced)).toBe(true);
    expect(pitched(during)).toBeGreaterThanOrEqual(16);
    // The detector lets go within 140 ms.
    expect(voiced(after)).toBeLessThanOrEqual(7);
  });

  it('is detected over a hissing line, and the hiss is not', () => {
    const { before, during } = judge(vowel(140, 400), 0.01);
    expect(voiced(before.slice(50))).toBe(0);
    expect(voiced(during)).toBeGreaterThanOrEqual(14);
    expect(before.at(-1)!.noiseFloorDb).toBeGreaterThan(-52);
  });

  it('is heard from the first frame of a call', () => {
    const detector = makeDetector();
    const word = vowel(150, 200);
    const verdicts = [0, 1, 2, 3, 4, 5].map((at) => ({ ...detector.process(word.subarray(at * FRAME, (at + 1) * FRAME)) }));
    detector.close();
    expect(voiced(verdicts)).toBeGreaterThanOrEqual(4);
  });

  it('is detected at once over a low rumble of the same level', () => {
    const rumble = Int16Array.from({ length: 240 * FRAME }, (_, at) => 1_500 * Math.sin((2 * Math.PI * 60 * at) / 8_000));
    const word = vowel(150, 300, 2_000);
    for (let at = 0; at < word.length; at += 1) rumble[200 * FRAME + at]! += word[at]!;
    const detector = makeDetector();
    const verdicts: VoiceVerdict[] = [];
    for (let at = 0; at < rumble.length; at += FRAME) verdicts.push({ ...detector.process(rumble.subarray(at, at + FRAME)) });
    detector.close();
    expect(voiced(verdicts.slice(0, 200))).toBe(0);
    expect(voiced(verdicts.slice(200, 203))).toBeGreaterThanOrEqual(2);
  });

  it.each([-66, -58, -53, -48])('is waited for on a line whose noise of %d dB is known within two seconds', (levelDb) => {
    const line = noise(2_000, 8_000, 10 ** (levelDb / 20) * Math.sqrt(3), seededRandom(7));
    expect(rmsLevelDb(line)).toBeCloseTo(levelDb, 0);
    const detector = makeDetector();
    for (let at = 0; at < line.length; at += FRAME) detector.process(line.subarray(at, at + FRAME));
    expect(Math.abs(detector.noiseFloorDb - levelDb)).toBeLessThan(2);
    detector.close();
  });

  it('is detected after a long digital silence', () => {
    const detector = makeDetector();
    for (let at = 0; at < 500; at += 1) expect(detector.process(new Int16Array(FRAME)).voiced).toBe(false);
    const word = vowel(150, 200);
    const verdicts = [0, 1, 2, 3, 4, 5].map((at) => ({ ...detector.process(word.subarray(at * FRAME, (at + 1) * FRAME)) }));
    detector.close();
    expect(voiced(verdicts)).toBeGreaterThanOrEqual(4);
  });
});

describe('what is not speech', () => {
  test.each([1, 2, 3, 4, 5, 6])('cough %d is loud but has no pitch', (seed) => {
    const { during } = judge(cough(250 + seed * 25, seed));
    expect(during[1]!.levelDb).toBeGreaterThan(-35);
    expect(pitched(during)).toBeLessThanOrEqual(1);
  });

  test.each([1, 2, 3, 4, 5, 6])('click %d is over before it is anything', (seed) => {
    const { during, after } = judge(click(seed));
    expect(voiced([...during, ...after])).toBeLessThanOrEqual(2);
    expect(pitched([...during, ...after])).toBe(0);
  });

  test.each([0.003, 0.01, 0.03, 0.1])('steady noise of peak %d is not taken for a voice for long', (amplitude) => {
    const { during } = judge(noise(4000, 8000, amplitude, seededRandom(8)));
    expect(pitched(during)).toBeLessThanOrEqual(2);
    expect(voiced(during.slice(125))).toBe(0);
  });

  it('on an unsteady line, noise is voice in one frame of fifty at most', () => {
    const random = seededRandom(12);
    const line = Int16Array.from({ length: 8_000 * 30 }, (_, at) => {
      const swell = 4 * Math.sin((2 * Math.PI * 0.7 * at) / 8_000) + 3 * Math.sin((2 * Math.PI * 2.3 * at) / 8_000);
      return Math.round((random() * 2 - 1) * 450 * 10 ** (swell / 20));
    });
    const detector = makeDetector();
    const verdicts: VoiceVerdict[] = [];
    for (let at = 0; at < line.length; at += FRAME) verdicts.push({ ...detector.process(line.subarray(at, at + FRAME)) });
    detector.close();
    expect(voiced(verdicts.slice(250))).toBeLessThanOrEqual(25);
  });

  it('keeps its noise floor when one packet of a noisy line is lost', () => {
    const line = noise(4000, 8000, 0.02, seededRandom(2));
    line.fill(0, 150 * FRAME, 151 * FRAME);
    const detector = makeDetector();
    const floors: number[] = [];
    for (let at = 0; at + FRAME <= line.length; at += FRAME) {
      detector.process(line.subarray(at, at + FRAME));
      floors.push(detector.noiseFloorDb);
    }
    detector.close();
    expect(floors[151]!).toBeGreaterThan(floors[149]! - 1);
  });
});

it('takes whole frames only, and none after it was closed', () => {
  const detector = makeDetector();
  expect(() => detector.process(new Int16Array(80))).toThrow(RangeError);
  detector.close();
  detector.close();
  expect(() => detector.process(new Int16Array(FRAME))).toThrow(TypeError);
});

it('judges two lines apart', () => {
  const one = makeDetector();
  const two = makeDetector();
  const word = vowel(150, 400);
  for (let at = 0; at < 20; at += 1) {
    one.process(word.subarray(at * FRAME, (at + 1) * FRAME));
    expect(two.process(new Int16Array(FRAME)).voiced).toBe(false);
  }
  one.close();
  two.close();
});

// Recordings of real people under their own licences: read where they are, never committed.
const humanFolder = process.env.OFFHOOK_TEST_HUMAN_AUDIO ?? join(import.meta.dirname, '../../../../shared/audio/human');
const hasHumans = existsSync(humanFolder);
if (!hasHumans) process.stdout.write('skipped: no recordings of real people (OFFHOOK_TEST_HUMAN_AUDIO)\n');

test.skipIf(!hasHumans)('real people are heard at once and have pitch within a quarter of a second', () => {
  const files = readdirSync(humanFolder).filter((name) => name.endsWith('.wav'));
  expect(files.length).toBeGreaterThan(100);
  const pitchedAfterMs: number[] = [];
  for (const name of files) {
    const { samples, rateHz } = parseWav(readFileSync(join(humanFolder, name)));
    const pcm = resample(samples[0]!, rateHz, 8000);
    const start = pcm.findIndex((sample) => Math.abs(sample) > 600);
    const { during } = judge(pcm.subarray(start, start + 8 * 1500));
    expect(
      during.slice(0, 4).some((verdict) => verdict.voiced),
      name,
    ).toBe(true);
    let count = 0;
    const at = during.findIndex((verdict) => (count += verdict.voiced && verdict.speechLike >= 0.5 ? 1 : 0) === 5);
    pitchedAfterMs.push(at === -1 ? Infinity : (at + 1) * 20);
  }
  pitchedAfterMs.sort((a, b) => a - b);
  expect(pitchedAfterMs[Math.floor(files.length * 0.9)]).toBeLessThanOrEqual(260);
});
