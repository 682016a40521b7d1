import {
  amountOf,
  sayAnswer,
  sayCallBack,
  calendarDay,
  type CalendarDay,
  type ClockTime,
  type Language,
  sayDay,
  sayDigits,
  sayMoney,
  sayTime,
} from '../../language/index.ts';
import type { AudibleAction } from '../port.ts';
import { nextOpening, zoneOf } from './hours.ts';
import type { ByLanguage, Flow, Prompt, Slot } from './schema.ts';
import { contractOf } from './slot-contract.ts';
import { builtInWords } from './built-in-words.ts';

/** Speak an amount as money: `26.5` as `twenty six dollars and fifty cents`. */
const MONEY_FILTERS = { inr: 'INR', usd: 'USD' } as const;
/** `full` says the part of the day with a time; `digits` reads figures one by one; `spelled` sign by sign. */
export const FILTERS = ['full', 'digits', 'spelled', 'inr', 'usd'] as const;

const PLACEHOLDER = /\{\{\s*([A-Za-z][\w-]*)\s*(?:\|\s*([A-Za-z]+)\s*)?\}\}/g;

interface Placeholder {
  readonly name: string;
  readonly filter: string | undefined;
}

export function placeholdersOf(template: string): Placeholder[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '', filter]) => ({ name, filter }));
}

export function inLanguage<Value>(values: ByLanguage<Value>, language: Language): Value | undefined {
  return values[language] ?? values.any;
}

export interface TextScope {
  readonly flow: Flow;
  readonly language: Language;
  readonly today: CalendarDay;
  readonly slots: Readonly<Record<string, string>>;
  /** Wall time, for the business hours. */
  readonly wallMs?: number;
  /** The refused answer in spoken form. */
  readonly heard?: string;
}

/**
 * Fills `{{ slot }}`, `{{ value }}`, `{{ heard }}` and `{{ opens }}` with the known values as they are spoken in the language. One pass: a
 * caller's words are never read as a template. Unknown names become empty.
 */
export function fillText(template: string, scope: TextScope): string {
  const filled = template.replaceAll(PLACEHOLDER, (_match, name: string, filter: string | undefined) => {
    if (name === 'heard') return scope.heard ?? '';
    const slot = scope.flow.slots[name];
    if (name === 'opens' && slot === undefined && scope.flow.hours !== undefined) return sayOpening(scope);
    const known = scope.slots[name];
    const text = Object.hasOwn(scope.flow.values, name) ? scope.flow.values[name] : undefined;
    const value = slot !== undefined || text === undefined ? known : inLanguage(text, scope.language);
    if (filter === 'inr' || filter === 'usd') {
      const amount = amountOf(value ?? '');
      if (amount !== undefined) return sayMoney(scope.language, amount, MONEY_FILTERS[filter]);
    }
    if (slot !== undefined) return known === undefined ? '' : sayValue(slot, known, scope, filter);
    return filter === 'digits' ? sayDigits(scope.language, value ?? '') : (value ?? '');
  });
  return filled.replaceAll(/\s+/g, ' ').trim();
}

/** When the next business hours begin: `tomorrow at nine o'clock in the morning`. */
function sayOpening({ flow, language, wallMs }: TextScope): string {
  const atMs = wallMs === undefined ? undefined : nextOpening(flow, wallMs);
  return atMs === undefined || wallMs === undefined ? '' : sayCallBack(language, atMs, wallMs, zoneOf(flow));
}

/** A slot's value as it is spoken. A value without its kind's form is spoken as it is. */
export function sayValue(slot: Slot, value: string, scope: TextScope, filter?: string): string {
  switch (slot.kind) {
    case 'day':
      return /^\d{4}-\d{2}-\d{2}$/.test(value) ? sayDay(scope.language, calendarDay(value), scope.today) : value;
    case 'time':
      return /^\d{2}:\d{2}$/.test(value) ? sayTime(scope.language, value as ClockTime, filter === 'full') : value;
    case 'digits':
      return sayDigits(scope.language, value);
    case 'yes-no':
      return value === 'yes' ? builtInWords(scope.language).yes : builtInWords(scope.language).no;
    case 'choice': {
      const option = Object.hasOwn(slot.options, value) ? slot.options[value] : undefined;
      return (option?.say === undefined ? undefined : inLanguage(option.say, scope.language)) ?? value;
    }
    case 'phone':
    case 'money':
    case 'code':
    case 'email':
    case 'name':
      return sayAnswer(contractOf(slot), value, scope, filter === 'spelled' ? 'spelled' : 'whole');
    case 'text':
      return filter === 'digits' ? sayDigits(scope.language, value) : value;
  }
}

/** The prompts as actions; prompts without a text in this language are left out. */
export function sayPrompts(prompts: readonly Prompt[], scope: TextScope): AudibleAction[] {
  return prompts.flatMap((prompt): AudibleAction[] => {
    const text = fillText(inLanguage<string>(prompt.text, scope.language) ?? '', scope);
    const policy = prompt.interruptible === undefined ? {} : { interruptible: prompt.interruptible };
    if (prompt.play !== undefined) {
      return [{ type: 'play', source: prompt.play, ...(text === '' ? {} : { text }), ...policy }];
    }
    if (text === '') return [];
    return [{ type: 'say', text, ...policy, ...(prompt.voice === undefined ? {} : { voice: prompt.voice }) }];
  });
}
