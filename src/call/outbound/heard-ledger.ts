import type { HeardPart } from '../../dialog/port.ts';

/** How much of a sentence the caller can have heard, in ms of its audio. */
export interface HeardInterval {
  /** Proven by a returned mark. */
  readonly sureMs: number;
  /** By the playout clock. */
  readonly likelyMs: number;
}

export interface Sentence {
  readonly unitId: string;
  readonly turnIndex: number;
  readonly text: string;
  /** More words come with its audio, until it is complete. */
  readonly grows?: true;
}

export interface HeardSentence extends Sentence {
  readonly heard: HeardInterval;
  /** Whole words before the cut; the whole text when it was played to its end. */
  readonly heardText: string;
  /** The word that the cut went through, if any. */
  readonly halfHeardWord: string | undefined;
  readonly unheardText: string;
  readonly timing: 'estimated';
  /** Error of a word's estimated position that 95 of 100 words stay within. */
  readonly errorMs: number;
  /** Word positions of a cut sentence, in ms of its audio; absent for a complete one. */
  readonly words?: readonly HeardWord[];
}

export interface HeardWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

interface Entry {
  sentence: Sentence;
  samples: number;
  complete: boolean;
  /** Synthesis stopped early, and no more audio will come. */
  broken: boolean;
  outcome: 'queued' | 'played' | 'cut';
  heard: HeardInterval;
  /** When the caller hears its beginning, on the monotonic clock. */
  startMs: number | undefined;
}

/** Speaking rate assumed until a sentence's length is known. */
const CHARACTERS_PER_SECOND = 14;
/** Error of taking all letters as equally long, as a share of the sentence; 95 of 100 words of three voices, English and Hindi, stay within it. */
const LETTER_ERROR = 0.09;
/** The same for the assumed rate. */
const RATE_ERROR = 0.37;

/**
 * What the bot said and how much of it was heard. Append-only: an interruption writes a cut; a sentence resumed after a cut is marked played once it
 * was.
 */
export class HeardLedger {
  readonly #samplesPerMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #byTurn = new TurnIndex<Entry>();
  /** Rises with each change of a sentence other than its length. */
  changes = 0;

  /** @param rateHz of the audio */
  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000;
  }

  queued(sentence: Sentence): void {
    const { unitId, turnIndex } = sentence;
    const entry: Entry = {
      sentence,
      samples: 0,
      complete: false,
      broken: false,
      outcome: 'queued',
      heard: { sureMs: 0, likelyMs: 0 },
      startMs: undefined,
    };
    this.changes += 1;
    this.#entries.set(unitId, entry);
    this.#byTurn.add(turnIndex, entry);
  }

  /** First audio was sent. @param startMs when the caller hears it, on the monotonic clock */
  starts(unitId: string, startMs: number): void {
    const entry = this.#entries.get(unitId);
    if (entry !== undefined) entry.startMs = startMs;
    this.changes += 1;
  }

  /** Times of a sentence; `durationMs` once all of it is made. */
  timesOf(unitId: string): {
    readonly startMs?: number | undefined;
    readonly durationMs?: number | undefined;
    readonly played: boolean;
  } {
    const entry = this.#entries.get(unitId);
    if (entry === undefined) return { played: false };
    const { startMs, complete, samples, outcome } = entry;
    return { startMs, played: outcome === 'played', durationMs: complete ? samples / this.#samplesPerMs : undefined };
  }

  /** @param samples added to the sentence; negative for samples made but never sent */
  audio(unitId: string, samples: number): void {
    const entry = this.#entries.get(unitId);
    if (entry !== undefined) entry.samples += samples;
  }

  complete(unitId: string): void {
    const entry = this.#entries.get(unitId);
    if (entry !== undefined) entry.complete = true;
    this.changes += 1;
  }

  /** Synthesis broke off: no more than was made can have been heard. */
  broken(unitId: string): void {
    const entry = this.#entries.get(unitId);
    if (entry !== undefined) entry.broken = true;
  }

  played(unitId: string, byMark: boolean): void {
    const entry = this.#entries.get(unitId);
    if (entry === undefined) return;
    const wholeMs = entry.samples / this.#samplesPerMs;
    this.changes += 1;
    entry.outcome = 'played';
    entry.heard = { sureMs: byMark ? wholeMs : entry.heard.sureMs, likelyMs: wholeMs };
  }

  cut(unitId: string, sureSamples: number, likelySamples: number): void {
    const entry = this.#entries.get(unitId);
    if (entry === undefined || entry.outcome === 'played') return;
    this.changes += 1;
    entry.outcome = 'cut';
    entry.heard = { sureMs: sureSamples / this.#samplesPerMs, likelyMs: likelySamples / this.#samplesPerMs };
  }

  /** More words of a sentence have come: its text so far. */
  rewrite(unitId: string, text: string): void {
    const entry = this.#entries.get(unitId);
    if (entry === undefined || entry.sentence.text === text) return;
    entry.sentence = { ...entry.sentence, text };
    this.changes += 1;
  }

  /** Whether more words of a sentence may come. */
  grows(unitId: string): boolean {
    return this.#entries.get(unitId)?.sentence.grows === true;
  }

  /** All words of a sentence have come. */
  worded(unitId: string): void {
    const entry = this.#entries.get(unitId);
    if (entry === undefined) return;
    const { grows: _over, ...sentence } = entry.sentence;
    entry.sentence = sentence;
  }

  /** How much of a sentence was heard. */
  heardOf(unitId: string): HeardPart {
    const entry = this.#entries.get(unitId);
    if (entry === undefined || entry.startMs === undefined) return { state: 'waiting', heardMs: 0, heardText: '' };
    const { heard, heardText } = this.#view(entry);
    return { state: entry.outcome === 'queued' ? 'playing' : entry.outcome, heardMs: heard.likelyMs, heardText };
  }

  /** Text of a sentence; empty when it was never queued. */
  textOf(unitId: string): string {
    return this.#entries.get(unitId)?.sentence.text ?? '';
  }

  /** Every sentence so far, oldest first; those still playing count as unheard. */
  sentences(): readonly HeardSentence[] {
    return [...this.#entries.values()].map((entry) => this.#view(entry));
  }

  /** The heard text of one turn's reply; a half-heard word ends in a dash. */
  heardText(turnIndex: number): string {
    const parts = this.#byTurn.of(turnIndex).map((entry) => {
      const { heardText, halfHeardWord } = this.#view(entry);
      return joined([heardText, halfHeardWord === undefined ? '' : `${halfHeardWord}—`]);
    });
    return joined(parts);
  }

  /** The intended text of one turn's reply. */
  sentText(turnIndex: number): string {
    return joined(this.#byTurn.of(turnIndex).map(({ sentence }) => sentence.text));
  }

  /** The part of `sentText` in sentences whose audio has begun. */
  begunText(turnIndex: number): string {
    return joined(this.#byTurn.of(turnIndex).flatMap(({ sentence, startMs }) => (startMs === undefined ? [] : sentence.text)));
  }

  wasCut(turnIndex: number): boolean {
    return this.#byTurn.of(turnIndex).some(({ outcome }) => outcome === 'cut');
  }

  #view(entry: Entry): HeardSentence {
    const { heard, outcome } = entry;
    const { grows: _ofNoRecord, ...sentence } = entry.sentence;
    const base = { ...sentence, heard, timing: 'estimated' } as const;
    if (outcome === 'played' && !entry.broken)
      return { ...base, errorMs: 0, heardText: sentence.text, halfHeardWord: undefined, unheardText: '' };
    const estimatedMs = (sentence.text.length / CHARACTERS_PER_SECOND) * 1000;
    const audioMs = entry.samples / this.#samplesPerMs;
    const wholeMs = entry.complete ? audioMs : Math.max(audioMs, estimatedMs);
    const cut = cutWords(sentence.text, wholeMs === 0 ? 0 : heard.likelyMs / wholeMs);
    const errorMs = Math.round(wholeMs * (LETTER_ERROR + (entry.complete ? 0 : RATE_ERROR)));
    return { ...base, errorMs, ...cut, ...(outcome === 'cut' ? { words: wordTimes(sentence.text, wholeMs) } : {}) };
  }
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** Positions of the words in the audio, taking all characters as equally long. */
function wordTimes(text: string, wholeMs: number): readonly HeardWord[] {
  const words = wordsOf(text);
  const total = charactersOf(words);
  let at = 0;
  return words.map((word) => {
    const startMs = Math.round((at / total) * wholeMs);
    at += word.length + 1;
    return { text: word, startMs, endMs: Math.round((at / total) * wholeMs) };
  });
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

/** Includes the blank after each word. */
function charactersOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + word.length + 1, 0);
}

/**
 * Splits a text where a share of its audio was played, taking all characters as equally long.
 * @param share 0 (nothing) to 1 (all)
 */
export function cutWords(
  text: string,
  share: number,
): { heardText: string; halfHeardWord: string | undefined; unheardText: string } {
  const words = wordsOf(text);
  const total = charactersOf(words);
  const heardCharacters = Math.min(1, Math.max(0, share)) * total;
  const heard: string[] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    const end = at + word.length + 1;
    if (end > heardCharacters + 0.5) {
      const half = heardCharacters - at >= 1 ? word : undefined;
      const rest = words.slice(half === undefined ? index : index + 1);
      return { heardText: heard.join(' '), halfHeardWord: half, unheardText: rest.join(' ') };
    }
    heard.push(word);
    at = end;
  }
  return { heardText: words.join(' '), halfHeardWord: undefined, unheardText: '' };
}

/** Items of a call by turn, for fast repeated lookup in long calls. */
export class TurnIndex<Thing> {
  readonly #turns = new Map<number, Thing[]>();

  add(turn: number, thing: Thing): void {
    const same = this.#turns.get(turn);
    if (same === undefined) this.#turns.set(turn, [thing]);
    else same.push(thing);
  }

  of(turn: number): readonly Thing[] {
    return this.#turns.get(turn) ?? [];
  }
}
