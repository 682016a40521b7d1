import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { RecognitionThread } from '../../../../../src/platform/engines/models/recognition-thread.ts';
import type { OnlineRecognizer, OnlineStream } from '../../../../../src/platform/engines/models/sherpa.ts';
import { StreamingModel } from '../../../../../src/platform/engines/models/streaming-model.ts';
import type { RecognitionResult } from '../../../../../src/platform/engines/recognise/port.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { thorough } from '../../../../support/thorough.ts';
import { soundOf } from '../../../../support/onnx/tiny-words.ts';

const CHUNK_MS = 320;
const LOOKAHEAD_MS = 130;

interface ScriptedStream extends OnlineStream {
  givenMs: number;
  chunks: number;
}

/** A library whose calls take time on a manual clock. It hears how many chunks it has decoded. */
class ScriptedLibrary implements OnlineRecognizer {
  readonly #clock: ManualClock;
  readonly #costMs: (streams: number) => number;
  readonly calls: number[] = [];
  failsAt: number | undefined;

  constructor(clock: ManualClock, costMs: (streams: number) => number) {
    this.#clock = clock;
    this.#costMs = costMs;
  }

  createStream(): ScriptedStream {
    const stream: ScriptedStream = {
      givenMs: 0,
      chunks: 0,
      acceptWaveform: ({ samples, sampleRate }) => {
        stream.givenMs += (samples.length / sampleRate) * 1_000;
      },
      inputFinished: () => undefined,
    };
    return stream;
  }

  isReady(stream: OnlineStream): boolean {
    const { givenMs, chunks } = stream as ScriptedStream;
    return givenMs > (chunks + 1) * CHUNK_MS + LOOKAHEAD_MS;
  }

  decode(stream: OnlineStream): void {
    this.decodeStreams([stream]);
  }

  decodeStreams(streams: readonly OnlineStream[]): void {
    this.calls.push(streams.length);
    if (this.calls.length === this.failsAt) throw new Error('the library failed');
    this.#clock.advance(this.#costMs(streams.length));
    for (const stream of streams) {
      if (!this.isReady(stream)) throw new Error('a stream that is not ready was decoded');
      (stream as ScriptedStream).chunks += 1;
    }
  }

  getResult(stream: OnlineStream): unknown {
    return { text: `${(stream as ScriptedStream).chunks}` };
  }
}

/** A thread in virtual time, and the audio that comes to it. */
class Simulation {
  readonly clock = new ManualClock();
  readonly library: ScriptedLibrary;
  readonly thread: RecognitionThread;
  /** What happens when, in its order. */
  readonly #agenda: { readonly atMs: number; readonly run: () => void }[] = [];

  constructor(costMs: (streams: number) => number) {
    this.library = new ScriptedLibrary(this.clock, costMs);
    const model = new StreamingModel({ name: 'scripted', languages: ['en'] }, this.library, 8_000, this.clock);
    this.thread = new RecognitionThread([{ languages: ['en'], model }], this.clock, () => undefined);
    this.library.calls.length = 0;
  }

  open() {
    const events: string[] = [];
    const failures: unknown[] = [];
    const session = this.thread.open(
      { language: 'en', rateHz: 8_000, boostPhrases: [] },
      { emit: ({ type }) => void events.push(type), fail: (error) => void failures.push(error) },
    );
    return { session, events, failures };
  }

  at(atMs: number, run: () => void): void {
    this.#agenda.push({ atMs, run });
  }

  /** Frames of 20 ms as they come from a call. */
  speaks(session: { push(pcm: Int16Array): void }, fromMs: number, pcm: Int16Array): void {
    for (let from = 0; from < pcm.length; from += 160) {
      this.at(fromMs + (from + 160) / 8, () => session.push(pcm.subarray(from, from + 160)));
    }
  }

  /** Until nothing is left to do. Answers of commits are promises: they come between the turns. */
  async run(): Promise<void> {
    this.#agenda.sort((a, b) => a.atMs - b.atMs);
    let next = 0;
    for (;;) {
      const due = this.#agenda[next];
      if (due !== undefined && due.atMs <= this.clock.nowMs()) {
        due.run();
        next += 1;
        continue;
      }
      const hasWork = this.thread.turn();
      await Promise.resolve();
      if (hasWork) continue;
      if (due === undefined) return;
      this.clock.advance(due.atMs - this.clock.nowMs());
    }
  }
}

const words = ['one', 'two', 'yes', 'doctor', 'no', 'monday'];
const sentence = soundOf(
  Array.from({ length: 50 }, (_, index) => words[index % 6] ?? ''),
  8_000,
);
/** At most 20 s. */
const speech = (seconds: number): Int16Array => sentence.subarray(0, seconds * 8_000);
const chunksOf = (result: RecognitionResult | undefined): number => Number(result?.text);

describe('turns of the streams of a thread', () => {
  it('learns from the model how much audio one call decodes', () => {
    const { library, clock } = new Simulation(() => 5);
    expect(new StreamingModel({ name: 'scripted', languages: [] }, library, 16_000, clock).chunkMs).toBe(CHUNK_MS);
    const deaf = Object.assign(library, { isReady: () => false });
    expect(() => new StreamingModel({ name: 'deaf', languages: [] }, deaf, 16_000, clock)).toThrow(
      'the model deaf decodes nothing within 10 s of audio',
    );
  });

  it('decodes streams together, as many as one call of about 60 ms takes', async () => {
    for (const [costMs, most] of [
      [2, 8],
      [15, 4],
      [100, 1],
    ] as const) {
      const simulation = new Simulation((streams) => streams * costMs);
      for (let stream = 0; stream < 12; stream += 1) simulation.speaks(simulation.open().session, 0, speech(2));
      await simulation.run();
      expect(Math.max(...simulation.library.calls)).toBe(most);
    }
  });

  it('decodes no silence', async () => {
    const simulation = new Simulation(() => 5);
    const { session } = simulation.open();
    simulation.speaks(session, 0, new Int16Array(60 * 8_000));
    const answers: (readonly RecognitionResult[])[] = [];
    simulation.at(60_000, () => void Promise.resolve(session.commit()).then((results) => answers.push(results)));
    await simulation.run();
    expect(simulation.library.calls).toEqual([]);
    expect(answers).toMatchObject([[{ text: '', startS: 0, endS: 60, confidence: 0 }]]);
  });

  it('has nothing left to decode at a commit after a pause', async () => {
    const simulation = new Simulation(() => 5);
    const { session } = simulation.open();
    simulation.speaks(session, 0, joinSamples([speech(2), new Int16Array(4_800)]));
    let before = 0;
    let answeredMs = 0;
    simulation.at(2_700, () => {
      before = simulation.library.calls.length;
      void Promise.resolve(session.commit()).then(([result]) => {
        answeredMs = simulation.clock.nowMs();
        // All chunks up to 300 ms after the voice, which ends at about 1.9 s.
        expect(chunksOf(result)).toBe(7);
      });
    });
    await simulation.run();
    expect(answeredMs).toBe(2_700);
    expect(simulation.library.calls.length).toBe(before);
  });

  it('decodes at a commit no more silence than the model needs', async () => {
    const simulation = new Simulation(() => 5);
    const { session } = simulation.open();
    simulation.speaks(session, 0, speech(2));
    let chunks = 0;
    simulation.at(2_000, () => void Promise.resolve(session.commit()).then(([result]) => (chunks = chunksOf(result))));
    await simulation.run();
    expect(chunks).toBe(Math.ceil((1_860 + 300) / CHUNK_MS));
  });

  it('answers a commit before it decodes the running audio of others', async () => {
    // More than the thread can do: the running audio is late.
    const simulation = new Simulation(() => 100);
    for (let stream = 0; stream < 3; stream += 1) simulation.speaks(simulation.open().session, 0, speech(4));
    const { session } = simulation.open();
    simulation.speaks(session, 0, speech(3));
    let waitedMs = Infinity;
    simulation.at(3_000, () => void Promise.resolve(session.commit()).then(() => (waitedMs = simulation.clock.nowMs() - 3_000)));
    await simulation.run();
    // The call that runs, and its own six chunks: without priority it takes half as long again.
    expect(waitedMs).toBeLessThanOrEqual(700);
  });

  it('decodes a call before files that were sent at once, and these in the time that is left', async () => {
    const simulation = new Simulation(() => 100);
    const files = [simulation.open(), simulation.open()];
    let answeredFiles = 0;
    simulation.at(0, () => {
      for (const { session } of files) {
        session.push(speech(15));
        void Promise.resolve(session.commit()).then(() => (answeredFiles += 1));
      }
    });
    const { session } = simulation.open();
    simulation.speaks(session, 500, speech(3));
    let waitedMs = Infinity;
    simulation.at(3_500, () => {
      expect(answeredFiles).toBe(0);
      void Promise.resolve(session.commit()).then(() => (waitedMs = simulation.clock.nowMs() - 3_500));
    });
    await simulation.run();
    // The call that runs, and three chunks of its own.
    expect(waitedMs).toBeLessThanOrEqual(400);
    expect(answeredFiles).toBe(2);
  });

  it('fails the streams of a call that fails, and no others', async () => {
    const simulation = new Simulation(() => 5);
    const [first, second] = [simulation.open(), simulation.open()];
    simulation.library.failsAt = 1;
    simulation.speaks(first.session, 0, speech(1));
    simulation.speaks(second.session, 1_000, speech(1));
    await simulation.run();
    expect(first.failures).toMatchObject([{ message: 'the library failed' }]);
    expect(second.failures).toEqual([]);
    expect(second.events).toContain('partial');
  });

  it('refuses a flood of audio, and says why', () => {
    const { session } = new Simulation(() => 5).open();
    const minute = new Int16Array(60 * 8_000);
    for (let sent = 0; sent < 10; sent += 1) session.push(minute);
    expect(() => session.push(minute)).toThrow('more than 600 s of audio wait to be recognised');
  });

  it('delays no stream for one that sends a file at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 2, max: 8 }), { minLength: 1, maxLength: 2 }),
        fc.array(fc.record({ fromMs: fc.nat(4_000), seconds: fc.integer({ min: 1, max: 3 }) }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 2, max: 30 }),
        async (files, calls, costMs) => {
          // At most 6 calls of 30 ms in 320 ms: the live ones take no more than 60 % of the time.
          const simulation = new Simulation((streams) => streams * costMs);
          const answered = { files: 0, waits: [] as number[] };
          for (const seconds of files) {
            const { session } = simulation.open();
            simulation.at(0, () => {
              session.push(speech(seconds));
              void Promise.resolve(session.commit()).then(() => (answered.files += 1));
            });
          }
          for (const { fromMs, seconds } of calls) {
            const { session } = simulation.open();
            simulation.speaks(session, fromMs, speech(seconds));
            const atMs = fromMs + seconds * 1_000;
            simulation.at(atMs, () => {
              void Promise.resolve(session.commit()).then(() => answered.waits.push(simulation.clock.nowMs() - atMs));
            });
          }
          await simulation.run();
          expect(answered.files).toBe(files.length);
          expect(answered.waits).toHaveLength(calls.length);
          // The call that runs and, for each of the other commits and its own, up to three chunks.
          const most = Math.max(60, costMs) + 3 * costMs * calls.length;
          for (const waitedMs of answered.waits) expect(waitedMs).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: thorough(20, 500) },
    );
  });
});
