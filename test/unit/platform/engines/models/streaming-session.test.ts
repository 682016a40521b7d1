import { describe, expect, it } from 'vitest';
import type { OnlineRecognizer, OnlineStream } from '../../../../../src/platform/engines/models/sherpa.ts';
import { StreamingSession } from '../../../../../src/platform/engines/models/streaming-session.ts';

interface HeardStream extends OnlineStream {
  seconds: number;
  finished: boolean;
}

/** Hears one token each half second of audio, and answers as the package does. */
class FakeRecognizer implements OnlineRecognizer {
  readonly streams: HeardStream[] = [];
  readonly #tokens: readonly string[];
  decoded = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  createStream(): HeardStream {
    const stream: HeardStream = {
      seconds: 0,
      finished: false,
      acceptWaveform: ({ samples, sampleRate }) => {
        stream.seconds += samples.length / sampleRate;
      },
      inputFinished: () => {
        stream.finished = true;
      },
    };
    this.streams.push(stream);
    return stream;
  }

  isReady(): boolean {
    this.decoded += 1;
    return this.decoded % 3 !== 0;
  }

  decode(): void {}

  getResult(stream: OnlineStream): unknown {
    const heard = this.streams.find((each) => each === stream)!;
    const tokens = this.#tokens.slice(0, Math.floor(heard.seconds * 2));
    const text = tokens.join('').replaceAll('▁', ' ');
    return { text, tokens, timestamps: tokens.map((_, index) => index / 2), ys_probs: tokens.map(() => -0.1), is_eof: false };
  }
}

const tokens = ['▁good', '▁mor', 'ning', '▁to', '▁you'];
const second = new Int16Array(8_000);

describe('a session with a model of the user', () => {
  it('emits growing partials, and the result with times on commit', () => {
    const events: unknown[] = [];
    const recognizer = new FakeRecognizer(tokens);
    const session = new StreamingSession(recognizer, { language: 'en', rateHz: 8_000 }, (event) => events.push(event));
    session.push(second);
    session.push(second.subarray(0, 100));
    session.push(second);
    expect(events).toEqual([
      { type: 'partial', text: 'good mor' },
      { type: 'partial', text: 'good morning to' },
    ]);
    const result = session.commit();
    expect(result).toMatchObject({ text: 'good morning to you', language: 'en', startS: 0 });
    expect(result.confidence).toBeCloseTo(Math.exp(-0.1), 6);
    expect(result.words.map(({ word, startS, endS }) => [word, startS, endS])).toEqual([
      ['good', 0, 0.5],
      ['morning', 0.5, 1.5],
      ['to', 1.5, 2],
      ['you', 2, 2.0125],
    ]);
    expect(recognizer.streams[0]!.finished).toBe(true);
  });

  it('goes on after a commit, with times of the whole stream', () => {
    const session = new StreamingSession(new FakeRecognizer(tokens), { language: 'en', rateHz: 8_000 }, () => undefined);
    session.push(second);
    session.commit();
    session.push(second);
    const { words } = session.commit();
    expect(words[0]).toMatchObject({ word: 'good', startS: 1 });
    expect(words.at(-1)!.endS).toBe(2);
  });

  it('is sure of nothing when nothing is said', () => {
    const session = new StreamingSession(new FakeRecognizer([]), { language: 'en', rateHz: 8_000 }, () => undefined);
    expect(session.commit()).toEqual({
      text: '',
      words: [],
      startS: 0,
      endS: 0,
      confidence: 0,
      language: 'en',
      alternatives: [],
    });
  });

  it('cuts what goes on too long', () => {
    const events: { type: string }[] = [];
    const session = new StreamingSession(new FakeRecognizer(tokens), { language: 'en', rateHz: 8_000 }, (event) =>
      events.push(event),
    );
    for (let index = 0; index < 30; index += 1) session.push(second);
    expect(events.filter(({ type }) => type === 'segment')).toHaveLength(1);
  });
});
