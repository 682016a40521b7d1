import { z } from 'zod';
import type { RecognisedWord, RecognitionResult } from '../recognise/port.ts';
import { spokenLanguage } from '../synth/spoken-language.ts';

// OnlineRecognizerResult and OfflineRecognizerResult of the package's types.js; which fields are there depends on the model.
const heardSchema = z.object({
  text: z.string(),
  tokens: z.array(z.string()).default([]),
  timestamps: z.array(z.number()).default([]),
  ys_probs: z.array(z.number()).default([]),
  lang: z.string().default(''),
});

/** A model's result for some audio. */
export type Heard = z.infer<typeof heardSchema>;

export const NOTHING_HEARD: Heard = { text: '', tokens: [], timestamps: [], ys_probs: [], lang: '' };

/** Confidence assumed for a model without one. */
const UNKNOWN_CONFIDENCE = 0.5;

/** @param result of the library's `getResult` */
export function readHeard(result: unknown): Heard {
  const heard = heardSchema.parse(result);
  const text = heard.text.trim().replaceAll(/\s+/g, ' ');
  // Many English models write capitals only.
  const isShouted = text === text.toUpperCase() && text !== text.toLowerCase();
  const plain = (words: string): string => (isShouted ? words.toLowerCase() : words);
  return { ...heard, text: plain(text), tokens: heard.tokens.map(plain) };
}

/** Maps audio given to a model to its place in the stream: silence in between is left out. Times are seconds. */
export class Timeline {
  readonly #spans: { readonly givenS: number; readonly streamS: number }[] = [];

  /** From here on, audio that the model gets at `givenS` lies at `streamS` of the stream. */
  add(givenS: number, streamS: number): void {
    this.#spans.push({ givenS, streamS });
  }

  inStream(givenS: number): number {
    const span = this.#spans.findLast((each) => each.givenS <= givenS) ?? this.#spans[0];
    return span === undefined ? givenS : Math.max(0, span.streamS + givenS - span.givenS);
  }
}

export interface HeardIn {
  /** The turn, in seconds of the stream. */
  readonly startS: number;
  readonly endS: number;
  readonly timeline: Timeline;
  /** The requested language, or `auto`. */
  readonly language: string;
  /** Those of the model. */
  readonly languages: readonly string[];
}

/** The result of a turn, or of a part of it. */
export function resultOf(heard: Heard, { startS, endS, timeline, language: asked, languages }: HeardIn): RecognitionResult {
  const { text, ys_probs: probabilities } = heard;
  const language = asked === 'auto' ? languageOf(heard, languages) : asked;
  if (text === '') return { text, words: [], startS, endS, confidence: 0, language, alternatives: [] };
  const mean = probabilities.reduce((sum, each) => sum + each, 0) / probabilities.length;
  const confidence = probabilities.length === 0 ? UNKNOWN_CONFIDENCE : Math.min(1, Math.exp(mean));
  const lastS = Math.max(startS, endS);
  const inTurn = (givenS: number): number => Math.min(lastS, Math.max(startS, timeline.inStream(givenS)));
  const timed = timedWords(heard, inTurn, lastS, confidence);
  const words = timed.map(({ word }) => word).join(' ') === text ? timed : evenWords(text, startS, lastS, confidence);
  return {
    text,
    words,
    startS: words[0]?.startS ?? startS,
    endS: words.at(-1)?.endS ?? endS,
    confidence,
    language,
    alternatives: [{ text, confidence }],
  };
}

/** Joins the parts of one turn. @param parts at least one, in order */
export function joinResults(parts: readonly [RecognitionResult, ...RecognitionResult[]]): RecognitionResult {
  const spoken = parts.filter(({ text }) => text !== '');
  const [first, ...more] = spoken;
  if (first === undefined) return { ...parts[0], endS: parts.at(-1)?.endS ?? parts[0].endS };
  if (more.length === 0) return first;
  const text = spoken.map((part) => part.text).join(' ');
  const letters = spoken.reduce((sum, part) => sum + part.text.length, 0);
  const confidence = spoken.reduce((sum, part) => sum + part.confidence * part.text.length, 0) / letters;
  return {
    text,
    words: spoken.flatMap(({ words }) => words),
    startS: first.startS,
    endS: more.at(-1)?.endS ?? first.endS,
    confidence,
    language: spoken.toSorted((a, b) => b.text.length - a.text.length)[0]?.language ?? first.language,
    alternatives: [{ text, confidence }],
  };
}

/** The language reported by the model, as `en` or `<|en|>`, or the one of its languages written in this script. */
function languageOf({ lang, text }: Heard, languages: readonly string[]): string {
  const [told] = /[a-z]{2,3}/u.exec(lang.toLowerCase()) ?? [];
  const known = languages.filter((code) => code !== 'auto');
  if (told !== undefined && (known.length === 0 || known.includes(told))) return told;
  const home = known[0] ?? 'en';
  if (text === '') return home;
  const read = spokenLanguage(text, undefined, home);
  return known.includes(read) ? read : home;
}

/** Joins tokens to words: a token with a leading blank (or its sign) starts a word. */
function timedWords(
  { tokens, timestamps }: Heard,
  inTurn: (givenS: number) => number,
  lastS: number,
  confidence: number,
): RecognisedWord[] {
  if (timestamps.length < tokens.length) return [];
  const words: { word: string; startS: number; endS: number; confidence: number }[] = [];
  for (const [index, token] of tokens.entries()) {
    const atS = inTurn(timestamps[index] ?? 0);
    const letters = token.replace(/^[\s\u2581]+/, '');
    const last = words.at(-1);
    if (last === undefined || letters !== token) {
      if (last !== undefined) last.endS = atS;
      words.push({ word: letters, startS: atS, endS: lastS, confidence });
    } else last.word += letters;
  }
  return words.filter(({ word }) => word !== '');
}

/** Divides the time among words without times, by length. */
function evenWords(text: string, startS: number, endS: number, confidence: number): RecognisedWord[] {
  const all = text.split(' ');
  const letters = all.reduce((sum, word) => sum + word.length, 0);
  let at = 0;
  const timeAt = (letter: number): number => startS + ((endS - startS) * letter) / Math.max(1, letters);
  return all.map((word) => {
    const from = at;
    at += word.length;
    return { word, startS: timeAt(from), endS: timeAt(at), confidence };
  });
}
