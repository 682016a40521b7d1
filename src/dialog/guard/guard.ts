import { type GuardSettings, type ModelToolSettings, noGuard, patternBetweenSlashes } from '../../config/bot-tools.ts';
import { literalPattern } from '../../kernel/literal-pattern.ts';
import { PatternSearch } from '../../kernel/pattern.ts';
import { languageOf } from '../../language/index.ts';
import { type Values, valuesIn } from './said-values.ts';
import type { DialogAction } from '../port.ts';

/** What the bot may have its values from, at this point of the call. */
export interface Sources {
  /** Results of tools and searches. */
  readonly found: readonly string[];
  /** The instructions, the variables and the facts of the call. */
  readonly given: readonly string[];
  /** The caller's words: the bot may ask about their values, and state none of them. */
  readonly caller: readonly string[];
}

/** Words that promise something, without their endings. */
const PROMISES = [
  ...'guarantee promise refund reimburs compensat discount rebate waive complimentary'.split(' '),
  'free of charge',
  'for free',
  'no charge',
  ...'गारंटी वादा रिफंड छूट मुआवज मुफ्त'.split(' '),
];
/** Statements of this many words or fewer need no source: greetings and courtesies. */
const FEW_WORDS = 8;
const MOST_READ = 500;

const SAID_INSTEAD = {
  en: { refused: 'I cannot say anything about that.', unknown: 'I do not have that information, and I would rather not guess.' },
  hi: { refused: 'इस बारे में मैं कुछ नहीं कह सकती।', unknown: 'यह जानकारी मेरे पास नहीं है, और मैं अंदाज़ा नहीं लगाना चाहती।' },
} as const;

/** Why a sentence is refused. */
export interface Refusal {
  readonly rule: 'refuse' | 'numbers' | 'dates' | 'promises' | 'grounded';
  /** The phrase or the value. */
  readonly about: string;
}

/** The rules of a bot for its own words: checks each sentence before it is synthesised. Shared by all calls of the bot. */
export class Guard {
  readonly #settings: GuardSettings;
  readonly #isGrounded: boolean;
  readonly #promises: readonly string[];
  /** Values of sources, which are the same sentence after sentence. */
  readonly #read = new Map<string, Values>();

  constructor(settings: GuardSettings, isGrounded: boolean) {
    this.#settings = settings;
    this.#isGrounded = isGrounded;
    this.#promises = [...PROMISES, ...settings.promises].map(comparable);
  }

  /** What is said in place of a refused sentence. */
  insteadIn(language: string, { rule }: Refusal): string {
    const own = this.#settings.say[language] ?? this.#settings.say[language.split('-')[0] ?? language];
    return own ?? SAID_INSTEAD[languageOf(language)][rule === 'refuse' || rule === 'promises' ? 'refused' : 'unknown'];
  }

  /** Checks one sentence. @returns undefined where it may be said */
  refusalOf(sentence: string, sources: Sources): Refusal | undefined {
    const { refuse, onlyFrom } = this.#settings;
    const phrase = refuse.find((each) => isIn(each, sentence));
    if (phrase !== undefined) return { rule: 'refuse', about: phrase };
    const known = [...sources.found, ...sources.given];
    if (onlyFrom.includes('promises')) {
      const said = comparable(sentence);
      const promise = this.#promises.find(
        (each) => hasWord(said, each) && !known.some((text) => hasWord(comparable(text), each)),
      );
      if (promise !== undefined) return { rule: 'promises', about: promise };
    }
    const isQuestion = /[?？]\s*$/u.test(sentence);
    const values = valuesIn(sentence);
    const from = [...known, ...(isQuestion ? sources.caller : [])].map((text) => this.#valuesOf(text));
    const number = onlyFrom.includes('numbers') ? unknownNumber(values, from) : undefined;
    if (number !== undefined) return { rule: 'numbers', about: number };
    const date = onlyFrom.includes('dates')
      ? [...values.dates].find((each) => !from.some(({ dates }) => dates.has(each)))
      : undefined;
    if (date !== undefined) return { rule: 'dates', about: date };
    const isStatement = !isQuestion && (values.numbers.size > 0 || sentence.trim().split(/\s+/u).length > FEW_WORDS);
    if (this.#isGrounded && isStatement && sources.found.length === 0)
      return { rule: 'grounded', about: 'no source was found in this call' };
    return undefined;
  }

  #valuesOf(text: string): Values {
    const known = this.#read.get(text) ?? valuesIn(text);
    if (this.#read.size >= MOST_READ) this.#read.clear();
    this.#read.set(text, known);
    return known;
  }
}

function unknownNumber({ numbers, runs }: Values, from: readonly Values[]): string | undefined {
  const isKnown = (digits: string): boolean =>
    from.some((known) => known.numbers.has(digits) || (digits.length >= 3 && known.runs.some((run) => run.includes(digits))));
  return [...numbers, ...runs].find((each) => !isKnown(each) && !isKnown(each.replace(/^0+(?=\d)/u, '')));
}

function isIn(phrase: string, sentence: string): boolean {
  const pattern = patternBetweenSlashes(phrase);
  if (pattern !== undefined) return new PatternSearch(pattern).findIn(sentence).length > 0;
  return hasWord(comparable(sentence), comparable(phrase));
}

function comparable(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('\u093C', '').replaceAll(/\s+/gu, ' ').trim();
}

/** Whether a text has these words; the last may have an ending. */
function hasWord(text: string, words: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])${literalPattern(words)}`, 'u').test(text);
}

/** The guard of a bot's file; undefined where nothing is to be checked. */
export function guardOf({ guard, knowledge }: ModelToolSettings): Guard | undefined {
  const isGrounded = knowledge?.grounded === true;
  return guard === undefined && !isGrounded ? undefined : new Guard(guard ?? noGuard(), isGrounded);
}

/** A sentence without an end is checked at this length: more is not held back. */
const MOST_HELD_CHARACTERS = 600;
/** A sentence mark and what closes it; a mark before more text without a blank may be inside a number. */
const SENTENCE_END = /[.!?।？！。]+["'”’)\]]*\s+/gu;

/**
 * Checks the words of an answer, sentence by sentence, before they are spoken. In place of the refused ones the caller hears one sentence; the record
 * gets a note for each.
 * @param sourcesNow at the time of each sentence, since tools run in between
 */
export async function* guarded(
  actions: AsyncIterable<DialogAction>,
  guard: Guard,
  language: string,
  sourcesNow: () => Sources,
): AsyncIterable<DialogAction> {
  let held = '';
  let excused = false;
  const checked = function* (sentences: readonly string[], more: boolean): Iterable<DialogAction> {
    for (const text of sentences) {
      const refusal = text.trim() === '' ? undefined : guard.refusalOf(text, sourcesNow());
      if (refusal === undefined) {
        yield { type: 'say', text, more: true };
        continue;
      }
      yield { type: 'note', text: `guard refused (${refusal.rule}: ${refusal.about}): ${text.trim()}` };
      if (!excused) yield { type: 'say', text: `${guard.insteadIn(language, refusal)} `, more: true };
      excused = true;
    }
    if (!more) yield { type: 'say', text: '' };
  };
  for await (const action of actions) {
    if (action.type !== 'say') {
      if (held !== '') yield* checked([held], false);
      held = '';
      yield action;
      continue;
    }
    const { sentences, rest } = cut(held + action.text);
    held = action.more === true && rest.length < MOST_HELD_CHARACTERS ? rest : '';
    const whole = held === '' && rest !== '' ? [...sentences, rest] : sentences;
    if (whole.length > 0 || action.more !== true) yield* checked(whole, action.more === true);
  }
  if (held !== '') yield* checked([held], true);
}

/** Whole sentences with the blanks behind them, and the unfinished rest. */
function cut(text: string): { readonly sentences: string[]; readonly rest: string } {
  const sentences: string[] = [];
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(SENTENCE_END)) {
    sentences.push(text.slice(from, index + mark.length));
    from = index + mark.length;
  }
  return { sentences, rest: text.slice(from) };
}
