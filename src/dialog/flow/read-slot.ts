import {
  type Language,
  readAnswer,
  type CalendarDay,
  weekdayOf,
  findChoice,
  type ClockTime,
  DAYTIME,
  inWindow,
  type TimeWindow,
  findDigits,
  findDay,
  findMoney,
  moneyWords,
  numberAt,
  findTime,
  timeOfKeys,
  type Found,
  tokenise,
  findYesNo,
} from '../../language/index.ts';
import type { Slot } from './schema.ts';
import { digitLimits } from './question.ts';
import { inLanguage } from './text.ts';
import { type ContractSlot, contractOf, contractOfDigits } from './slot-contract.ts';

export interface Utterance {
  readonly text: string;
  readonly tokens: readonly string[];
  /** Keys pressed after the words, in the same answer. */
  readonly keys: string;
}

interface ReadOptions {
  readonly language: Language;
  readonly today: CalendarDay;
  /** This slot was asked for, so a number alone may be its value. */
  readonly asked: boolean;
}

export function utterance(text: string, keys = ''): Utterance {
  return { text: text.trim(), tokens: tokenise(text), keys };
}

/** A slot's value in an utterance, possible or not; undefined without one. */
export function readSpoken(slot: Slot, said: Utterance, options: ReadOptions): Found<string> | undefined {
  const { tokens } = said;
  switch (slot.kind) {
    case 'choice': {
      const choices = Object.entries(slot.options).map(([name, option]) => ({
        name,
        phrases: (inLanguage<readonly string[]>(option.phrases, options.language) ?? []).map(tokenise),
      }));
      return findChoice(tokens, choices) ?? (options.asked ? spokenKey(slot, tokens) : undefined);
    }
    case 'day':
      return findDay(tokens, options.today, options.asked);
    case 'time':
      return findTime(tokens, { window: windowOf(slot), bare: options.asked });
    case 'digits': {
      // Expected digits may come in parts, with keys between; otherwise one run of them counts.
      const whole = options.asked ? readAnswer(contractOfDigits(slot), options, said.text, said.keys) : undefined;
      if (whole?.status === 'complete') return { value: whole.value, from: 0, to: tokens.length };
      const digits = findDigits(tokens);
      const { least, most } = digitLimits(slot);
      return digits !== undefined && digits.value.length >= least && digits.value.length <= most ? digits : undefined;
    }
    case 'yes-no':
      return findYesNo(tokens);
    case 'phone':
    case 'money':
    case 'code':
    case 'email':
    case 'name':
      return spokenContract(slot, said, options);
    case 'text':
      return options.asked && tokens.length > 0 ? { value: said.text.slice(0, 500), from: 0, to: tokens.length } : undefined;
  }
}

/** The slot value that keys mean; undefined without one. */
export function readKeys(slot: Slot, digits: string): string | undefined {
  switch (slot.kind) {
    case 'choice':
      return Object.entries(slot.options).find(([, option]) => option.key === digits)?.[0];
    case 'time':
      return timeOfKeys(digits, windowOf(slot));
    case 'digits': {
      const { least, most } = digitLimits(slot);
      return /^\d+$/.test(digits) && digits.length >= least && digits.length <= most ? digits : undefined;
    }
    case 'phone':
    case 'money':
    case 'code':
    case 'email':
    case 'name': {
      const reading = readAnswer(contractOf(slot), { language: 'en', today: '1970-01-01' }, '', digits);
      return reading.status === 'complete' ? reading.value : undefined;
    }
    case 'yes-no':
      return digits === '1' ? 'yes' : digits === '2' ? 'no' : undefined;
    case 'day':
    case 'text':
      return undefined;
  }
}

/** Whether a value is possible: an open day, a time in the window, an amount within the limits. */
export function isPossible(slot: Slot, value: string): boolean {
  if (slot.kind === 'day') return !slot.closed.includes(weekdayOf(value as CalendarDay)); // written by findDay
  if (slot.kind === 'time') return inWindow(value as ClockTime, { from: slot.from ?? '00:00', to: slot.to ?? '23:59' });
  if (slot.kind === 'money') return Number(value) >= (slot.least ?? 0) && Number(value) <= (slot.most ?? Infinity);
  return true;
}

function spokenContract(slot: ContractSlot, said: Utterance, { language, today, asked }: ReadOptions): Found<string> | undefined {
  // An unexpected name or bare number is probably something else.
  if (!asked && slot.kind === 'name') return undefined;
  if (!asked && slot.kind === 'money' && !/^(?:unit|whole)$/.test(findMoney(moneyWords(said.text), slot.currency).ends))
    return undefined;
  const reading = readAnswer(contractOf(slot), { language, today }, said.text, asked ? said.keys : '');
  if (reading.status !== 'complete') return undefined;
  // One word, so that a command in the same words wins: any word could be a name.
  return { value: reading.value, from: 0, to: slot.kind === 'name' ? 1 : said.tokens.length };
}

function windowOf(slot: Slot & { kind: 'time' }): TimeWindow {
  return { from: slot.from ?? DAYTIME.from, to: slot.to ?? DAYTIME.to };
}

/** `one`, `press two`, `number three`: the key of an option, said instead of pressed. */
function spokenKey(slot: Slot & { kind: 'choice' }, tokens: readonly string[]): Found<string> | undefined {
  const last = tokens.length - 1;
  if (last < 0 || last > 2) return undefined;
  const number = numberAt(tokens, last);
  if (number === undefined || (last > 0 && findDigits(tokens.slice(0, last)) !== undefined)) return undefined;
  const name = readKeys(slot, String(number.value));
  return name === undefined ? undefined : { value: name, from: 0, to: tokens.length };
}
