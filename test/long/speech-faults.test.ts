import { afterAll, expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../src/audio/tone.ts';
import { chooseFault, type ConnectionFault, type Traffic } from '../support/faults/connection-fault.ts';
import {
  type Conversation,
  converse,
  isEveryWordAccountedFor,
  type Outcome,
  speakInOne,
  speakOnSocket,
  upload,
} from '../faults/speech-runs.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';
import { type ToneWord, toneWords } from '../integration/platform/tone-engines.ts';

const RUNS = 240;
const AT_ONCE = 6;
const seed = Number(process.env.OFFHOOK_TEST_SEED ?? 31_007);
const vocabulary = Object.keys(toneWords) as ToneWord[];
const counts = new Map<string, number>();

console.log(`OFFHOOK_TEST_SEED=${seed}`);
afterAll(() => console.log(Object.fromEntries([...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)))));

/** Choices of one run, the same whatever the others do beside it. */
class Run {
  readonly note: string;
  readonly #random: () => number;

  constructor(service: string, index: number) {
    this.note = `${service} run ${index} of seed ${seed}`;
    this.#random = seededRandom(seed + index * 7_919);
    // The first numbers of neighbouring seeds are alike.
    for (let skipped = 0; skipped < 8; skipped += 1) this.#random();
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  words(most: number): ToneWord[] {
    return Array.from({ length: 1 + this.below(most) }, () => vocabulary[this.below(vocabulary.length)]!);
  }

  /** One for each of the first connections. */
  faults(...traffic: readonly Traffic[]): ConnectionFault[] {
    const faults = Array.from({ length: 1 + this.below(3) }, () =>
      chooseFault(this.#random, traffic[this.below(traffic.length)]!),
    );
    // What reaches the platform twice is audio, or another request, like any other: no client can tell.
    return faults.map((fault) => (fault.kind === 'duplicated-frame' ? { ...fault, direction: 'down' } : fault));
  }
}

async function campaign(service: string, runs: number, one: (run: Run) => Promise<void>): Promise<void> {
  const indexes = Array.from({ length: runs }, (_, index) => index).values();
  const work = async (): Promise<void> => {
    for (const index of indexes) await one(new Run(service, index));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function count(service: string, what: string): void {
  counts.set(`${service}: ${what}`, (counts.get(`${service}: ${what}`) ?? 0) + 1);
}

function expectSame(audio: Buffer, whole: Buffer, note: string): void {
  const differsAt = whole.findIndex((byte, at) => byte !== audio[at]);
  expect({ bytes: audio.length, differsAt }, note).toEqual({ bytes: whole.length, differsAt: -1 });
}

function nameOf(outcome: Outcome<unknown>): string {
  return 'value' in outcome ? 'whole' : outcome.error.code;
}

it('has every word said to a realtime session once, or names the interval that is lost', async () => {
  await using server = await startTestPlatform();
  await campaign('recognition', RUNS, async (run) => {
    const turns = Array.from({ length: 1 + run.below(3) }, () => run.words(4));
    const conversation: Conversation = { turns, waits: run.below(4) > 0 };
    const faults = run.faults(
      { over: 'socket', direction: 'up', bytes: 60_000, frames: 40 },
      { over: 'socket', direction: 'down', bytes: 2_500, frames: 12 },
    );
    const heard = await converse(server, conversation, faults);
    const isFine = isEveryWordAccountedFor(conversation, heard);
    if (!isFine) console.error(run.note, JSON.stringify({ conversation, faults, heard }));
    expect(isFine, run.note).toBe(true);
    expect(heard.events.filter(({ type }) => type === 'closed').length, run.note).toBe(1);
    const isWhole = heard.words.length === turns.flat().length;
    count('recognition', `${heard.broken} broken, ${isWhole ? 'every word' : 'told as lost'}`);
  });
  expect(server.recognition.openStreams).toBe(0);
});

it('transcribes a whole file or says why not, and how often it was sent', async () => {
  const free = await Promise.all(Array.from({ length: AT_ONCE }, () => startTestPlatform()));
  onTestFinished(async () => void (await Promise.all(free.map((server) => server[Symbol.asyncDispose]()))));
  await campaign('upload', RUNS / 2, async (run) => {
    const words = run.words(6);
    const faults = run.faults(
      { over: 'http', direction: 'up', bytes: 35_000, frames: 0 },
      { over: 'http', direction: 'down', bytes: 400, frames: 0 },
    );
    // To itself, as it is asked how often it heard the file.
    const server = free.pop()!;
    const { outcome, told, transcribed, broken } = await upload(server, words, faults);
    free.push(server);
    const note = `${run.note}: ${JSON.stringify({ faults, told, transcribed, outcome: nameOf(outcome) })}`;
    if ('value' in outcome) expect(outcome.value, note).toBe(words.join(' '));
    expect(transcribed, note).toBeLessThanOrEqual(told);
    count('upload', `${nameOf(outcome)}, sent ${told} times, ${broken} broken`);
  });
});

it('speaks the whole of a text in one request, or fails', async () => {
  await using server = await startTestPlatform();
  const text = 'A sentence that is long enough to come in pieces.';
  for (const format of ['pcm', 'wav', 'mulaw', 'mp3'] as const) {
    const { outcome } = await speakInOne(server, text, format, []);
    if ('error' in outcome) throw outcome.error;
    await campaign(`batch ${format}`, RUNS / 6, async (run) => {
      const faults = run
        .faults(
          { over: 'http', direction: 'up', bytes: 500, frames: 0 },
          { over: 'http', direction: 'down', bytes: outcome.value.length, frames: 0 },
        )
        // A length that is too short looks like the end, where the audio itself does not say how long it is.
        .map((fault) =>
          fault.kind === 'wrong-content-length' && format !== 'wav' ? { ...fault, by: Math.abs(fault.by) } : fault,
        );
      const spoken = await speakInOne(server, text, format, faults);
      if ('value' in spoken.outcome) expectSame(spoken.outcome.value, outcome.value, `${run.note}: ${JSON.stringify(faults)}`);
      count('batch synthesis', nameOf(spoken.outcome));
    });
  }
  expect(counts.get('batch synthesis: whole')).toBeGreaterThan(0);
});

it('speaks the whole of each text on sockets, or fails', async () => {
  await using server = await startTestPlatform();
  const texts = ['One.', 'A second sentence.', 'And a third, which is the longest of them.'];
  const whole = await speakOnSocket(server, texts, []);
  await campaign('realtime synthesis', RUNS, async (run) => {
    const faults = run.faults(
      { over: 'socket', direction: 'up', bytes: 1_000, frames: 3 },
      { over: 'socket', direction: 'down', bytes: 40_000, frames: 30 },
    );
    const spoken = await speakOnSocket(server, texts, faults);
    for (const [index, { outcome }] of spoken.entries()) {
      const expected = whole[index]!.outcome;
      if ('error' in expected) throw expected.error;
      if ('value' in outcome) expectSame(outcome.value, expected.value, `${run.note}: ${JSON.stringify(faults)}`);
      count('realtime synthesis', nameOf(outcome));
    }
  });
  expect(counts.get('realtime synthesis: whole')).toBeGreaterThan(0);
});
