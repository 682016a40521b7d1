import {
  type CalendarDay,
  findPhrase,
  isMadeOf,
  phraseTable,
  tokenise,
  findAgreement,
  type YesNo,
} from '../../language/index.ts';
import { type Command, commandOfKeys, findCommand } from './commands.ts';
import type { FlowState } from './flow-state.ts';
import { calledPhrases } from './question.ts';
import { isPossible, readKeys, readSpoken, type Utterance, utterance } from './read-slot.ts';
import type { Flow, Slot } from './schema.ts';
import { builtInWords } from './built-in-words.ts';

/** Meaning of an answer to the open question. All empty: not understood. */
export interface Heard {
  /** Values by slot. */
  readonly values: Readonly<Record<string, string>>;
  /** Understood but impossible values, by slot. */
  readonly refused: Readonly<Record<string, string>>;
  readonly yesNo: YesNo | undefined;
  /** Slots the caller named, in the order of the confirmation. */
  readonly parts: readonly string[];
  readonly command: Command | undefined;
}

export const NOTHING_HEARD: Heard = { values: {}, refused: {}, yesNo: undefined, parts: [], command: undefined };

/** @param keys pressed after the words, in the same answer */
export function hearSpoken(flow: Flow, state: FlowState, text: string, today: CalendarDay, keys = ''): Heard {
  const said = utterance(text, keys);
  const heard = hearAnswer(flow, state, said, today);
  const command = findCommand(flow, state.language, said.tokens);
  // A command wins over an answer that takes fewer words: "no, speak to a person".
  if (command === undefined || command.to - command.from < heard.words) return heard;
  // An answer after "wait" is an answer: "no, wait, Wednesday".
  if (command.value.name === 'stop') {
    const others = said.tokens.filter((_, index) => index < command.from || index >= command.to);
    const rest = hearAnswer(flow, state, utterance(others.join(' '), keys), today, false);
    const isAnswer = ([name, value]: [string, string]): boolean =>
      saysMuch(flow.slots[name], rest.words) && state.slots[name] !== value;
    if (Object.entries({ ...rest.values, ...rest.refused }).some(isAnswer)) return { ...rest, parts: [] };
  }
  return { ...NOTHING_HEARD, command: command.value };
}

/** Whether this many words are unlikely to match this kind of value by chance: "no" alone can be a choice. */
function saysMuch(slot: Slot | undefined, words: number): boolean {
  if (slot?.kind === 'choice') return words > 1;
  return slot !== undefined && !['yes-no', 'name', 'text'].includes(slot.kind);
}

/**
 * Meaning of an utterance for the open question, without commands.
 * @param asked whether a number alone, or any word, may be the expected value
 */
function hearAnswer(flow: Flow, state: FlowState, said: Utterance, today: CalendarDay, asked = true): HeardWords {
  const at = flow.states[state.at];
  if (at?.ask !== undefined) {
    return hearDetails(flow, state, said, today, [at.ask.slot, ...at.ask.also], asked ? at.ask.slot : undefined);
  }
  if (at?.confirm !== undefined) return hearConfirmation(flow, state, said, today, Object.keys(at.confirm.parts));
  return { ...NOTHING_HEARD, words: 0 };
}

export function hearKeys(flow: Flow, state: FlowState, digits: string): Heard {
  const { ask, confirm } = flow.states[state.at] ?? {};
  const slot = ask === undefined ? undefined : flow.slots[ask.slot];
  const value = slot === undefined ? undefined : readKeys(slot, digits);
  if (ask !== undefined && slot !== undefined && value !== undefined) {
    return { ...NOTHING_HEARD, ...sorted([[ask.slot, slot, value]]) };
  }
  if (confirm !== undefined && state.stage === 'which') {
    const part = Object.keys(confirm.parts)[Number(digits) - 1];
    if (part !== undefined) return { ...NOTHING_HEARD, parts: [part] };
  } else if (confirm !== undefined && (digits === '1' || digits === '2')) {
    return { ...NOTHING_HEARD, yesNo: digits === '1' ? 'yes' : 'no' };
  }
  return { ...NOTHING_HEARD, command: commandOfKeys(flow, state.language, digits) };
}

type HeardWords = Heard & { readonly words: number };

function hearDetails(
  flow: Flow,
  state: FlowState,
  said: Utterance,
  today: CalendarDay,
  names: readonly string[],
  asked: string | undefined,
): HeardWords {
  let words = 0;
  const details = names.flatMap((name): [string, Slot, string][] => {
    const slot = Object.hasOwn(flow.slots, name) ? flow.slots[name] : undefined;
    if (slot === undefined) return [];
    const found = readSpoken(slot, said, { language: state.language, today, asked: name === asked });
    words += found === undefined ? 0 : found.to - found.from;
    return found === undefined ? [] : [[name, slot, found.value]];
  });
  return { ...NOTHING_HEARD, ...sorted(details), words };
}

function hearConfirmation(
  flow: Flow,
  state: FlowState,
  said: Utterance,
  today: CalendarDay,
  names: readonly string[],
): HeardWords {
  const ordinal = state.stage === 'which' ? names[findOrdinal(said.tokens) ?? names.length] : undefined;
  if (ordinal !== undefined) return { ...NOTHING_HEARD, parts: [ordinal], words: said.tokens.length };
  const yesNo = findAgreement(said.tokens);
  const everything = builtInWords(state.language).everything.some((phrase) => findPhrase(said.tokens, tokenise(phrase)) >= 0);
  const parts = names.filter(
    (name) =>
      (everything && state.stage === 'which') ||
      calledPhrases(flow, name, state.language).some((phrase) => findPhrase(said.tokens, tokenise(phrase)) >= 0),
  );
  // "No, eleven", "the time should be eleven": a number alone can only correct the time.
  const times = names.find((name) => flow.slots[name]?.kind === 'time');
  const corrects = yesNo?.value === 'no' || state.stage === 'which' || (times !== undefined && parts.includes(times));
  const details = hearDetails(flow, state, said, today, names, corrects ? times : undefined);
  const words = details.words + (yesNo === undefined ? 0 : yesNo.to - yesNo.from) + parts.length;
  return { ...details, yesNo: yesNo?.value, parts, words };
}

const ORDINALS = [
  phrasesOf('first, first one, former, पहला, पहली, पहले वाला'),
  phrasesOf('second, second one, latter, दूसरा, दूसरी, दूसरा वाला'),
];

function phrasesOf(list: string): ReadonlyMap<string, true> {
  return phraseTable([[true, list.split(', ')]]);
}

/** The offered part meant by an ordinal alone: `the first one`. */
function findOrdinal(tokens: readonly string[]): number | undefined {
  const place = ORDINALS.findIndex((phrases) => isMadeOf(tokens, phrases));
  return place < 0 ? undefined : place;
}

function sorted(details: readonly (readonly [string, Slot, string])[]): Pick<Heard, 'values' | 'refused'> {
  const pick = (possible: boolean) =>
    Object.fromEntries(details.flatMap(([name, slot, value]) => (isPossible(slot, value) === possible ? [[name, value]] : [])));
  return { values: pick(true), refused: pick(false) };
}
