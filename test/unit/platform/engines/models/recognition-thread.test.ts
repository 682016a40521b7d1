import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { noise, seededRandom } from '../../../../../src/audio/tone.ts';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import type { RecognitionModel } from '../../../../../src/speech/models/model.ts';
import { openRecogniser } from '../../../../../src/platform/engines/models/open-recogniser.ts';
import { RecognitionThread } from '../../../../../src/platform/engines/models/recognition-thread.ts';
import { loadSherpa } from '../../../../../src/platform/engines/models/sherpa.ts';
import type { RecognitionResult } from '../../../../../src/platform/engines/recognise/port.ts';
import type { SessionEvent } from '../../../../../src/platform/engines/recognise/worker-protocol.ts';
import { writeTinyRecogniser } from '../../../../support/onnx/tiny-recognisers.ts';
import { soundOf, TINY_WORDS } from '../../../../support/onnx/tiny-words.ts';
import { untilPasses } from '../../../../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-recognition-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const sherpa = loadSherpa(folder);

/** A thread with one tiny model, which the real library opens. */
function threadOf(
  kind: RecognitionModel['kind'],
  languages: readonly string[] = ['en'],
  name: string = kind,
  words: readonly string[] = TINY_WORDS,
) {
  const model = writeTinyRecogniser(join(folder, name), { kind, languages, words });
  const files = Object.fromEntries(Object.entries(model.files).map(([role, file]) => [role, join(folder, name, String(file))]));
  const opened = openRecogniser(sherpa, { ...model, files } as RecognitionModel, languages, systemClock);
  let working = false;
  const thread: RecognitionThread = new RecognitionThread([{ languages, model: opened }], systemClock, () => {
    if (working) return;
    working = true;
    void (async () => {
      do await setImmediate();
      while (thread.turn());
      working = false;
    })();
  });
  return thread;
}

function streamOf(thread: RecognitionThread, language = 'en', boostPhrases: readonly string[] = [], rateHz = 8_000) {
  const events: SessionEvent[] = [];
  const failures: unknown[] = [];
  const outputs = { emit: (event: SessionEvent) => void events.push(event), fail: (error: unknown) => void failures.push(error) };
  const session = thread.open({ language, rateHz, boostPhrases }, outputs);
  return {
    events,
    failures,
    session,
    /** In frames of 20 ms, with time for the thread between them. */
    async say(pcm: Int16Array) {
      const frame = rateHz / 50;
      for (let at = 0; at < pcm.length; at += frame) {
        session.push(pcm.subarray(at, at + frame));
        if (at % (5 * frame) === 0) await setImmediate();
      }
    },
    async commit(): Promise<RecognitionResult> {
      const [result, ...more] = await session.commit();
      expect(more).toEqual([]);
      if (result === undefined) throw new Error('a commit without a result');
      return result;
    },
  };
}

const silence = (seconds: number, rateHz = 8_000): Int16Array => noise(seconds * 1_000, rateHz, 0.001, seededRandom(3));
const KINDS: readonly RecognitionModel['kind'][] = [
  'streaming-transducer',
  'streaming-ctc',
  'offline-transducer',
  'offline-ctc',
  'whisper',
  'moonshine',
  'sense-voice',
];

describe('a thread of recognition models', () => {
  it.each(KINDS)('hears turns of a %s, whatever silence lies around and between the words', async (kind) => {
    const stream = streamOf(threadOf(kind));
    const turns = [
      { words: [['doctor', 'monday']], before: 0.2, after: 0.7 },
      { words: [['yes']], before: 3, after: 0 },
      {
        words: [
          ['one', 'two'],
          ['no', 'yes', 'one'],
        ],
        before: 0.5,
        after: 0.3,
      },
      { words: [], before: 2, after: 0 },
    ];
    for (const { words, before, after } of turns) {
      await stream.say(silence(before));
      for (const [index, part] of words.entries()) {
        if (index > 0) await stream.say(silence(2));
        await stream.say(soundOf(part, 8_000));
      }
      await stream.say(silence(after));
      expect((await stream.commit()).text).toBe(words.flat().join(' '));
    }
    expect(stream.failures).toEqual([]);
  });

  it.each(KINDS)('tells when words were said in the whole stream: %s', async (kind) => {
    const stream = streamOf(threadOf(kind, ['en'], `${kind}-times`), 'en', [], 16_000);
    await stream.say(silence(5, 16_000));
    await stream.say(soundOf(['one', 'two'], 16_000));
    await stream.say(silence(2, 16_000));
    await stream.say(soundOf(['yes'], 16_000));
    await stream.say(silence(1, 16_000));
    const { words, startS, endS } = await stream.commit();
    expect(words.map(({ word }) => word)).toEqual(['one', 'two', 'yes']);
    // Words begin at 5.0, 5.4 and 7.8 s. Models without times share out that of their segment.
    for (const [index, atS] of [5, 5.4, 7.8].entries()) {
      expect(Math.abs((words[index]?.startS ?? 0) - atS)).toBeLessThan(0.45);
    }
    expect(startS).toBeGreaterThan(4.5);
    expect(endS).toBeLessThan(9);
  });

  it.each(['streaming-transducer', 'streaming-ctc'] as const)(
    'sends growing partials while the caller speaks: %s',
    async (kind) => {
      const stream = streamOf(threadOf(kind, ['en'], `${kind}-partials`));
      await stream.say(soundOf(['one', 'two', 'doctor', 'yes'], 8_000));
      await stream.say(silence(0.8));
      await stream.commit();
      const texts = stream.events.map((event) => (event.type === 'partial' ? event.text : event.type));
      expect(texts.length).toBeGreaterThanOrEqual(3);
      for (const text of texts) expect('one two doctor yes').toContain(text);
    },
  );

  it('sends what a model of segments heard up to a pause as a partial', async () => {
    const stream = streamOf(threadOf('sense-voice', ['en'], 'pause'));
    await stream.say(soundOf(['one', 'two'], 8_000));
    await stream.say(silence(1));
    await untilPasses(() => expect(stream.events).toContainEqual({ type: 'partial', text: 'one two' }));
    await stream.say(soundOf(['yes'], 8_000));
    expect((await stream.commit()).text).toBe('one two yes');
  });

  it('serves several languages with one model, and says which it heard where the model tells', async () => {
    const thread = threadOf('sense-voice', ['hi', 'en', 'auto'], 'languages');
    for (const [asked, told] of [
      ['hi', 'hi'],
      ['en', 'en'],
      ['auto', 'en'],
    ] as const) {
      const stream = streamOf(thread, asked);
      await stream.say(soundOf(['one'], 8_000));
      expect(await stream.commit()).toMatchObject({ text: 'one', language: told });
    }
    expect(() => streamOf(thread, 'ta')).toThrow('no model for ta');
  });

  it('decodes a file that is sent at once as one that comes in real time', async () => {
    const words = Array.from({ length: 20 }, (_, index) => ['one', 'two', 'yes', 'doctor'][index % 4] ?? '');
    const stream = streamOf(threadOf('streaming-transducer', ['en'], 'at-once'));
    stream.session.push(joinSamples([silence(1), soundOf(words, 8_000), silence(1)]));
    expect((await stream.commit()).text).toBe(words.join(' '));
  });

  it('answers commits of many streams at once, each with its own words', async () => {
    const thread = threadOf('streaming-transducer', ['en'], 'many');
    const said = Array.from({ length: 12 }, (_, index) => [['one', 'two'], ['yes'], ['doctor', 'no', 'monday']][index % 3] ?? []);
    const streams = said.map((words) => ({ words, stream: streamOf(thread) }));
    await Promise.all(streams.map(({ words, stream }) => stream.say(joinSamples([silence(0.3), soundOf(words, 8_000)]))));
    const results = await Promise.all(streams.map(({ stream }) => stream.commit()));
    expect(results.map(({ text }) => text.split(' '))).toEqual(said);
  });

  it.each(['streaming-transducer', 'whisper'] as const)('compares what a %s heard with the hints of the stream', async (kind) => {
    const words = ['yes', 'no', 'one', 'two', 'docter', 'monday'];
    const thread = threadOf(kind, ['en'], `${kind}-hints`, words);
    for (const [hints, text] of [
      [[], 'yes docter'],
      [['Doctor'], 'yes Doctor'],
      [['daughter'], 'yes docter'],
    ] as const) {
      const stream = streamOf(thread, 'en', hints);
      await stream.say(soundOf(['yes', 'docter'], 8_000, words));
      expect((await stream.commit()).text).toBe(text);
    }
  });

  it('gives a transducer the hints before it decodes, of each stream its own', async () => {
    const thread = threadOf('offline-transducer', ['en'], 'hotwords');
    const alike = soundOf(['no/two', 'one'], 8_000);
    for (const hint of ['no', 'two']) {
      const stream = streamOf(thread, 'en', [hint]);
      await stream.say(alike);
      expect((await stream.commit()).text).toBe(`${hint} one`);
    }
  });

  it('cuts what goes on too long', async () => {
    const stream = streamOf(threadOf('streaming-transducer', ['en'], 'long'));
    await stream.say(
      soundOf(
        Array.from({ length: 80 }, () => 'one'),
        8_000,
      ),
    );
    const last = await stream.commit();
    const segments = stream.events.flatMap((event) => (event.type === 'segment' ? [event.result] : []));
    expect(segments).toHaveLength(1);
    expect(segments[0]?.endS).toBeCloseTo(30, 0);
    expect([...segments, last].flatMap(({ text }) => text.split(' ')).length).toBeGreaterThanOrEqual(80);
  });
});
