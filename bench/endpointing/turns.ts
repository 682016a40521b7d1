// Turns made of recordings of people: whole ones, and ones with pauses where people pause.
import { rmsLevelDb } from '../../src/audio/level.ts';
import { joinSamples } from '../../src/audio/samples.ts';
import { trim } from '../../src/sim/caller/voice.ts';
import { type Clip, fromFirstSound } from '../recordings.ts';
import { LEAST_PAUSE_MS, longestPause } from './pauses.ts';

export type TurnKind = 'whole' | 'sentence' | 'hesitation' | 'number' | 'address' | 'two sentences';

export interface SaidWord {
  readonly text: string;
  /** Since the turn's first sound. */
  readonly endMs: number;
}

/** What a caller says in one turn, at 8 kHz; it begins and ends with sound. */
export interface SpokenTurn {
  readonly kind: TurnKind;
  readonly pcm: Int16Array;
  readonly words: readonly SaidWord[];
}

const SAMPLES_PER_MS = 8;
export const SPEECH_LEVEL_DB = -22;
/** Of a turn with a pause: how many are of each kind, in hundredths. */
const PAUSING: readonly (readonly [TurnKind, number])[] = [
  ['sentence', 40],
  ['number', 20],
  ['address', 15],
  ['hesitation', 15],
  ['two sentences', 10],
];
const NUMBERS =
  /^(?:zero|one|two|three|four|five|six|seven|eight|nine|niner|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|five five)$/iu;
/** Words behind which people hesitate: something has to follow. */
const HESITATED = /^(?:a|an|and|at|by|for|in|is|my|of|on|or|please|than|that|the|then|this|to|was|with|your)$/iu;
/** Pauses between groups that are not the longest one of their turn. */
const SHORT_PAUSE_MS = [60, 180] as const;

/** Draws turns from recordings; the same seed gives the same ones. */
export class TurnMaker {
  readonly #random: () => number;
  readonly #sentences: readonly Clip[];
  readonly #hesitating: readonly { readonly clip: Clip; readonly at: number }[];
  readonly #numbers: readonly Clip[];
  readonly #words: readonly Clip[];

  /** @throws RangeError when the recordings hold no sentences or no numbers */
  constructor(clips: readonly Clip[], random: () => number) {
    this.#random = random;
    const all = clips.map((clip) => ({ ...clip, pcm: sound(clip.pcm) })).filter(({ pcm }) => pcm.length > 1_000);
    this.#sentences = all.filter(({ text }) => wordsOf(text).length >= 5 && !/\.\.\./u.test(text));
    this.#numbers = all.filter(({ text }) => NUMBERS.test(text.trim()));
    this.#words = all.filter(({ text }) => /^[a-z]{4,}$/iu.test(text.trim()) && !NUMBERS.test(text.trim()));
    this.#hesitating = this.#sentences.flatMap((clip) =>
      wordsOf(clip.text).flatMap((_, at, words) =>
        at >= 2 && at < words.length && HESITATED.test(words[at - 1] ?? '') ? [{ clip, at }] : [],
      ),
    );
    if (Math.min(this.#sentences.length, this.#numbers.length, this.#words.length, this.#hesitating.length) === 0)
      throw new RangeError('the recordings hold no sentences, numbers or single words to make turns of');
  }

  /** @param mostMs of a pause */
  next(mostMs: number): SpokenTurn {
    const pauseMs = longestPause(this.#random, mostMs);
    if (pauseMs === undefined)
      return this.#joined('whole', [part(this.#random() < 0.7 ? this.#pick(this.#sentences) : this.#pick(this.#words))], []);
    const kind = this.#kind();
    switch (kind) {
      case 'number':
      case 'address': {
        const groups = Array.from({ length: 2 + Math.floor(this.#random() * 2) }, () => this.#group());
        const parts = kind === 'number' ? groups : [...groups.slice(0, 1), part(this.#pick(this.#words)), ...groups.slice(1)];
        const longest = Math.floor(this.#random() * (parts.length - 1));
        return this.#joined(
          kind,
          parts,
          parts.slice(1).map((_, at) => (at === longest ? pauseMs : this.#pause(pauseMs))),
        );
      }
      case 'two sentences':
        return this.#joined(kind, [part(this.#pick(this.#sentences)), part(this.#pick(this.#sentences))], [pauseMs]);
      case 'hesitation': {
        const { clip, at } = this.#pick(this.#hesitating);
        return this.#joined(kind, cut(clip, at), [pauseMs]);
      }
      case 'sentence':
      case 'whole': {
        const clip = this.#pick(this.#sentences);
        const count = wordsOf(clip.text).length;
        return this.#joined('sentence', cut(clip, 2 + Math.floor(this.#random() * (count - 3))), [pauseMs]);
      }
    }
  }

  #kind(): TurnKind {
    let left = this.#random() * 100;
    return PAUSING.find(([, share]) => (left -= share) < 0)?.[0] ?? 'sentence';
  }

  /** Two to four numbers in a row. */
  #group(): Part {
    const parts = Array.from({ length: 2 + Math.floor(this.#random() * 3) }, () => part(this.#pick(this.#numbers)));
    return together(
      parts,
      parts.slice(1).map(() => this.#pause(LEAST_PAUSE_MS)),
    );
  }

  #pause(mostMs: number): number {
    const [least, most] = SHORT_PAUSE_MS;
    return Math.min(mostMs, least + (most - least) * this.#random());
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)]!;
  }

  #joined(kind: TurnKind, parts: readonly Part[], pausesMs: readonly number[]): SpokenTurn {
    return { kind, ...together(parts, pausesMs) };
  }
}

/** Sound, and its words with their ends. */
type Part = Omit<SpokenTurn, 'kind'>;

function together(parts: readonly Part[], pausesMs: readonly number[]): Part {
  const pcm: Int16Array[] = [];
  const words: SaidWord[] = [];
  let atMs = 0;
  for (const [index, each] of parts.entries()) {
    if (index > 0) {
      const silence = new Int16Array(Math.round((pausesMs[index - 1] ?? 0) * SAMPLES_PER_MS));
      pcm.push(silence);
      atMs += silence.length / SAMPLES_PER_MS;
    }
    for (const word of each.words) words.push({ text: word.text, endMs: atMs + word.endMs });
    pcm.push(each.pcm);
    atMs += each.pcm.length / SAMPLES_PER_MS;
  }
  return { pcm: joinSamples(pcm), words };
}

/** Words end where their letters do: no recording says when. */
function part({ pcm, text }: Clip): Part {
  const words = wordsOf(text);
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  let before = 0;
  return {
    pcm,
    words: words.map((word) => {
      before += word.length + 1;
      return { text: word, endMs: (before / letters) * (pcm.length / SAMPLES_PER_MS) };
    }),
  };
}

/** Cuts a sentence before its word number `at`, where it is quietest near there. */
function cut(clip: Clip, at: number): readonly Part[] {
  const whole = part(clip);
  const near = Math.round((whole.words[at - 1]?.endMs ?? 0) * SAMPLES_PER_MS);
  let [place, least] = [near, Number.POSITIVE_INFINITY];
  for (let from = Math.max(800, near - 960); from <= Math.min(clip.pcm.length - 960, near + 960); from += 40) {
    const levelDb = rmsLevelDb(clip.pcm.subarray(from, from + 160));
    if (levelDb < least) [place, least] = [from + 80, levelDb];
  }
  const [before, after] = [faded(clip.pcm.slice(0, place)), faded(clip.pcm.slice(place).reverse()).reverse()];
  const texts = whole.words.map(({ text }) => text);
  return [
    part({ ...clip, pcm: sound(before), text: texts.slice(0, at).join(' ') }),
    part({ ...clip, pcm: sound(after), text: texts.slice(at).join(' ') }),
  ];
}

/** Without a click at its end. */
function faded(pcm: Int16Array): Int16Array {
  return pcm.map((sample, index) => sample * Math.min(1, (pcm.length - index) / 80));
}

/** From the first sound to the last: what is more than 25 dB below the voice is room. */
function sound(pcm: Int16Array): Int16Array {
  const heard = fromFirstSound(trim(pcm), SPEECH_LEVEL_DB - 25, 10);
  return fromFirstSound(heard.slice().reverse(), SPEECH_LEVEL_DB - 25, 10).reverse();
}

export function wordsOf(text: string): readonly string[] {
  return text
    .replaceAll(/[^\p{L}\p{M}\p{N}' ]+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '');
}
