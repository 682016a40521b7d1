import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noise, seededRandom } from '../../../src/audio/tone.ts';
import { FusedDetector } from '../../../src/call/inbound/neural/fused-detector.ts';
import type { FrameWriter } from '../../../src/call/inbound/neural/shared-frames.ts';
import { SpeechJudge } from '../../../src/call/inbound/neural/speech-judge.ts';
import { startWorker } from '../../../src/kernel/entry-file.ts';
import { eventually } from '../../support/eventually.ts';

interface Told {
  readonly warnings: string[];
  readonly asked: boolean[];
  readonly counts: { readonly judged: number; readonly late: number }[];
}

function makeJudge(options: { readonly lines?: number; readonly start?: (data: object) => Worker } = {}): SpeechJudge & Told {
  const told: Told = { warnings: [], asked: [], counts: [] };
  const judge = new SpeechJudge({
    ...options,
    logger: { warn: (_, message) => void told.warnings.push(message) },
    events: {
      neuralDetectorRequested: ({ taken }) => void told.asked.push(taken),
      neuralFramesJudged: (counts) => void told.counts.push({ ...counts }),
    },
  });
  return Object.assign(judge, told);
}

/** Syllables as a vocal tract makes them: harmonics of a falling pitch under three formants that move. */
function syllables(ms: number): Int16Array {
  let phase = 0;
  return Int16Array.from({ length: ms * 8 }, (_, at) => {
    const place = (at / 1_600) % 1;
    const pitchHz = 140 - 25 * place;
    phase += (2 * Math.PI * pitchHz) / 8_000;
    let sum = 0;
    for (let harmonic = 1; harmonic * pitchHz < 3_400; harmonic += 1) {
      const hz = harmonic * pitchHz;
      const formants = [500 + 300 * place, 1_500 - 300 * place, 2_500];
      const gain = formants.reduce((all, centre) => all + Math.exp(-(((hz - centre) / 220) ** 2)), 0.03);
      sum += gain * Math.sin(harmonic * phase);
    }
    return Math.round(3_000 * Math.sin(Math.PI * place) ** 0.5 * sum);
  });
}

const framesOf = (pcm: Int16Array): Int16Array[] =>
  Array.from({ length: Math.floor(pcm.length / 160) }, (_, frame) => pcm.slice(frame * 160, frame * 160 + 160));

/** All answers to these frames, which are given no faster than they are judged. */
async function answersTo(line: FrameWriter, frames: readonly Int16Array[]): Promise<number[]> {
  const answers: number[] = [];
  let given = 0;
  await eventually('the answers', () => {
    for (let answer = line.read(); answer !== undefined; answer = line.read())
      answers.push(answer === 'none' ? Number.NaN : answer);
    while (given < frames.length && given - answers.length < 8 && line.write(frames[given]!)) given += 1;
    return answers.length === frames.length;
  });
  return answers;
}

const shareAbove = (answers: readonly number[], least: number): number =>
  answers.filter((answer) => answer >= least).length / answers.length;

/** Takes everything for a voice, which an engine in the background is not. */
const builtIn = { process: () => ({ voiced: true, speechLike: 0.9 }), close: () => undefined };
const engine = framesOf(noise(200, 8_000, 0.1, seededRandom(7)));
const hear = (detector: FusedDetector, frames = 10): boolean[] =>
  engine.slice(0, frames).map((frame) => detector.process(frame).voiced);

describe('a judge', () => {
  let judge: SpeechJudge & Told;
  let thread: Worker | undefined;
  beforeAll(async () => {
    const judgeFile = new URL('../../../src/call/inbound/neural/speech-judge.ts', import.meta.url).href;
    judge = makeJudge({ lines: 2, start: (data) => (thread = startWorker(judgeFile, 'judge-worker', data)) });
    await judge.settled;
  });
  afterAll(() => judge[Symbol.asyncDispose]());

  it('tells voices from noise on lines that it serves at once', async () => {
    const [voice, hiss] = [judge.open()!, judge.open()!];
    expect(judge.open()).toBeUndefined();
    const [speech, rain] = await Promise.all([
      answersTo(voice, framesOf(syllables(1_000))),
      answersTo(hiss, framesOf(noise(1_000, 8_000, 0.1, seededRandom(5)))),
    ]);
    expect(shareAbove(speech.slice(10), 0.5)).toBeGreaterThan(0.7);
    expect(shareAbove(rain.slice(10), 0.3)).toBeLessThan(0.1);
    voice.close();
    hiss.close();
    expect(judge.counts.slice(-2)).toEqual(Array.from({ length: 2 }, () => ({ judged: 50, late: 0 })));
    expect(judge.asked).toEqual([true, true, false]);
    expect(judge.warnings).toEqual([]);
  });

  it('gives a line that is free again to the next call, which hears nothing of the last', async () => {
    const hiss = framesOf(noise(200, 8_000, 0.1, seededRandom(6)));
    const first = judge.open()!;
    const expected = await answersTo(first, hiss);
    framesOf(syllables(600)).forEach((frame) => first.write(frame));
    first.close();
    first.close();
    judge.open()!.close();
    const second = judge.open()!;
    expect(await answersTo(second, hiss)).toEqual(expected);
    second.close();
  });

  it('leaves a call to the built-in detector when its thread dies, says so once, and refuses the calls that follow', async () => {
    judge.asked.splice(0);
    const detector = new FusedDetector(builtIn, judge.open()!);
    await eventually('a doubt', () => hear(detector, 1)[0] === false);
    await thread!.terminate();
    const gone = (): string[] => judge.warnings.filter((message) => message.includes('detector failed'));
    await eventually('the end of the thread', () => gone().length > 0);
    hear(detector);
    expect(hear(detector)).toEqual(Array(10).fill(true));
    expect(judge.open()).toBeUndefined();
    detector.close();
    expect(judge.asked).toEqual([true, false]);
    expect(gone()).toHaveLength(1);
  });
});

describe('a judge that fails', () => {
  it('is left alone where it does not answer, and says so once', async () => {
    await using judge = makeJudge({
      start: () =>
        new Worker(`require('node:worker_threads').parentPort.postMessage('ready'); setInterval(() => {}, 1_000)`, {
          eval: true,
        }),
    });
    await judge.settled;
    const detector = new FusedDetector(builtIn, judge.open()!);
    for (let times = 0; times < 5; times += 1) expect(hear(detector)).toEqual(Array(10).fill(true));
    detector.close();
    expect(judge.counts).toEqual([{ judged: 0, late: 18 }]);
    expect(judge.warnings).toEqual([expect.stringContaining('overloaded')]);
  });

  it('takes no call where the network cannot be loaded', async () => {
    await using judge = makeJudge({ start: () => new Worker(`throw new Error('no such package')`, { eval: true }) });
    const early = judge.open()!;
    expect(early.write(engine[0]!)).toBe(false);
    await judge.settled;
    expect(judge.open()).toBeUndefined();
    expect(early.write(engine[0]!)).toBe(false);
    expect(judge.warnings).toEqual([expect.stringContaining('detector failed')]);
  });
});
