import { z } from 'zod';
import type { RecognisedWord, RecognitionResult } from '../recognise/port.ts';
import type { SessionEvent } from '../recognise/worker-protocol.ts';
import type { OnlineRecognizer, OnlineStream } from './sherpa.ts';

/** Silence that flushes the last words out of the encoder. */
const TAIL_S = 0.6;
/** Longest utterance, so that memory stays bounded. */
const LONGEST_S = 30;

// OnlineRecognizerResult of the package's types.js; older versions lack the probabilities.
const resultSchema = z.object({
  text: z.string(),
  tokens: z.array(z.string()).default([]),
  timestamps: z.array(z.number()).default([]),
  ys_probs: z.array(z.number()).default([]),
});

/** One stream of audio through a model of the user's. Synchronous. */
export class StreamingSession {
  readonly #recognizer: OnlineRecognizer;
  readonly #language: string;
  readonly #rateHz: number;
  readonly #emit: (event: SessionEvent) => void;
  #stream: OnlineStream;
  /** Samples before the utterance, and in it. */
  #before = 0;
  #pushed = 0;
  #text = '';

  constructor(recognizer: OnlineRecognizer, options: { language: string; rateHz: number }, emit: (event: SessionEvent) => void) {
    this.#recognizer = recognizer;
    this.#language = options.language;
    this.#rateHz = options.rateHz;
    this.#emit = emit;
    this.#stream = recognizer.createStream();
  }

  push(pcm: Int16Array): void {
    this.#accept(Float32Array.from(pcm, (sample) => sample / 32_768));
    this.#pushed += pcm.length;
    const { text } = this.#decoded();
    if (text !== this.#text && text !== '') this.#emit({ type: 'partial', text });
    this.#text = text;
    if (this.#pushed >= LONGEST_S * this.#rateHz) this.#emit({ type: 'segment', result: this.commit() });
  }

  commit(): RecognitionResult {
    this.#accept(new Float32Array(Math.round(TAIL_S * this.#rateHz)));
    this.#stream.inputFinished();
    const heard = this.#decoded();
    const startS = this.#before / this.#rateHz;
    const endS = (this.#before + this.#pushed) / this.#rateHz;
    this.#before += this.#pushed;
    this.#pushed = 0;
    this.#text = '';
    this.#stream = this.#recognizer.createStream();
    const confidence =
      heard.ys_probs.length === 0 ? 0.5 : Math.exp(heard.ys_probs.reduce((sum, each) => sum + each, 0) / heard.ys_probs.length);
    const shared = { confidence: heard.text === '' ? 0 : Math.min(1, confidence), language: this.#language };
    const words = timedWords(heard, startS, endS, shared.confidence);
    const text = heard.text;
    return {
      ...shared,
      text,
      words,
      startS: words[0]?.startS ?? startS,
      endS: words.at(-1)?.endS ?? endS,
      alternatives: text === '' ? [] : [{ text, confidence: shared.confidence }],
    };
  }

  #accept(samples: Float32Array): void {
    this.#stream.acceptWaveform({ samples, sampleRate: this.#rateHz });
  }

  #decoded(): z.infer<typeof resultSchema> {
    while (this.#recognizer.isReady(this.#stream)) this.#recognizer.decode(this.#stream);
    const result = resultSchema.parse(this.#recognizer.getResult(this.#stream));
    return { ...result, text: result.text.trim().replaceAll(/\s+/g, ' ') };
  }
}

/** Joins tokens to words: a token with a leading blank (or its sign) starts a word. */
function timedWords(
  { tokens, timestamps }: z.infer<typeof resultSchema>,
  startS: number,
  endS: number,
  confidence: number,
): RecognisedWord[] {
  const words: { word: string; startS: number; endS: number; confidence: number }[] = [];
  for (const [index, token] of tokens.entries()) {
    const atS = Math.min(endS, startS + (timestamps[index] ?? 0));
    const letters = token.replace(/^[\s\u2581]+/, '');
    const last = words.at(-1);
    if (last === undefined || letters !== token) {
      if (last !== undefined) last.endS = atS;
      words.push({ word: letters, startS: atS, endS, confidence });
    } else last.word += letters;
  }
  return words.filter(({ word }) => word !== '');
}
