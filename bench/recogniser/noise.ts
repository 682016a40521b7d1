// Words wrong with the noise of a street and of a café behind the caller, with and without noise suppression before the recogniser.
import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import { amplify, rmsLevelDb } from '../../src/audio/level.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { loadNoiseSuppressor } from '../../src/call/inbound/neural/noise-suppressor.ts';
import type { OpenedRecogniser } from '../../src/platform/engines/models/open-recogniser.ts';
import { round } from '../document.ts';
import type { Clip } from '../recordings.ts';
import { inThread } from './in-thread.ts';
import type { Missed } from './through-platform.ts';

/** Below the voice. */
const RATIOS_DB = [20, 10, 5];
/** The noise was there before the caller spoke. */
const BEFORE = 8_000;
const FRAME = 160;
/** Voices at once in a café. */
const VOICES = 16;

type Noise = (samples: number, random: () => number) => Int16Array;

/** Traffic: noise with equal power in each octave (Paul Kellet's filter) that swells as cars pass. */
const street: Noise = (samples, random) => {
  const poles = [0, 0, 0];
  const phase = 2 * Math.PI * random();
  return Int16Array.from({ length: samples }, (_, index) => {
    const white = 2 * random() - 1;
    poles[0] = 0.99765 * poles[0]! + 0.099046 * white;
    poles[1] = 0.963 * poles[1]! + 0.2965164 * white;
    poles[2] = 0.57 * poles[2]! + 1.0526913 * white;
    const swell = 10 ** (0.3 * Math.sin(phase + (2 * Math.PI * index) / 40_000));
    return 1_500 * swell * (poles[0] + poles[1] + poles[2] + 0.1848 * white);
  });
};

/** Babble: sixteen of the other recordings at once, one after the other in each voice. */
const cafe =
  (clips: readonly Clip[]): Noise =>
  (samples, random) => {
    const sum = new Float64Array(samples);
    for (let voice = 0; voice < VOICES; voice += 1) {
      for (let at = -Math.floor(random() * 8_000); at < samples;) {
        const { pcm } = clips[Math.floor(random() * clips.length)]!;
        for (let index = Math.max(0, -at); index < pcm.length && at + index < samples; index += 1)
          sum[at + index]! += pcm[index]! / 3;
        at += pcm.length;
      }
    }
    return Int16Array.from(sum, (sample) => Math.max(-32_768, Math.min(32_767, sample)));
  };

/** @param quiet of the line @param speechDb level of the recordings */
export async function inNoise(
  opened: OpenedRecogniser,
  language: string,
  clips: readonly Clip[],
  quiet: (ms: number) => Int16Array,
  speechDb: number,
) {
  const suppressor = await loadNoiseSuppressor();
  const rows: object[] = [];
  const missed: Missed[] = [];
  const noises: readonly (readonly [string, Noise | undefined, readonly number[]])[] = [
    ['none', undefined, [Number.POSITIVE_INFINITY]],
    ['street', street, RATIOS_DB],
    ['café', cafe(clips), RATIOS_DB],
  ];
  for (const [name, noise, ratios] of noises) {
    for (const ratioDb of ratios) {
      for (const suppressed of [false, true]) {
        const random = seededRandom(5);
        const line = (pcm: Int16Array): Int16Array => {
          const whole = new Int16Array(BEFORE + pcm.length - (pcm.length % FRAME));
          whole.set(pcm.subarray(0, whole.length - BEFORE), BEFORE);
          const heard = noise === undefined ? whole : mixed(whole, noise(whole.length, random), speechDb - ratioDb);
          const carried = decodeMulaw(encodeMulaw(heard));
          if (!suppressed) return carried;
          const quieter = suppressor.open(8_000);
          const frames: number[] = [];
          for (let from = 0; from < carried.length; from += FRAME)
            frames.push(...quieter.process(carried.subarray(from, from + FRAME)));
          quieter.close();
          return Int16Array.from(frames);
        };
        const measured = await inThread(opened, language, clips, quiet, line);
        console.error(`${name} ${ratioDb} dB${suppressed ? ', suppressed' : ''}: ${measured.wordErrorPercent} %`);
        rows.push({ noise: name, ratioDb, suppressed, wordErrorPercent: measured.wordErrorPercent });
        missed.push(...measured.missed);
      }
    }
  }
  return { utterances: clips.length, costOfAFrameMs: costOfAFrame(suppressor.open(8_000)), rows, missed };
}

function mixed(speech: Int16Array, noise: Int16Array, levelDb: number): Int16Array {
  const background = amplify(noise, levelDb - rmsLevelDb(noise));
  return speech.map((sample, index) => Math.max(-32_768, Math.min(32_767, sample + (background[index] ?? 0))));
}

/** Processor time for 20 ms of a line, in ms. */
function costOfAFrame(line: { process(pcm: Int16Array): Int16Array; close(): void }): number {
  const frames = 3_000;
  const random = seededRandom(6);
  const pcm = street(FRAME, random);
  for (let warm = 0; warm < 200; warm += 1) line.process(pcm);
  const before = process.cpuUsage();
  for (let frame = 0; frame < frames; frame += 1) line.process(pcm);
  const { user, system } = process.cpuUsage(before);
  line.close();
  return round((user + system) / 1_000 / frames);
}
