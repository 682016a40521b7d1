import {
  findChoice,
  type CalendarDay,
  findDay,
  findDigits,
  numberAt,
  findTime,
  tokenise,
  findYesNo,
} from '../../language/index.ts';
import { checkedValue, type FieldValue } from './field-value.ts';
import { PatternSearch } from '../../kernel/pattern.ts';
import type { ProfileField } from './profile.ts';
import { findPersonal } from './redaction/personal.ts';
import {
  covering,
  phraseSpans,
  type SpannedToken,
  spannedTokens,
  type Evidence,
  evidenceIn,
  type Utterance,
} from './transcript.ts';

type Rule = ProfileField['rules'][number];

/** What was extracted for one field. */
export interface ExtractedField {
  readonly name: string;
  readonly value: FieldValue;
  readonly from: 'rules' | 'model';
  /** The words it came from. */
  readonly evidence: readonly Evidence[];
}

interface Place {
  readonly raw: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Values found by the rules of one field; the first rule with a valid value decides.
 * @param today the day of the recording, the base of relative days
 * @param problems collects patterns that were given up
 */
export function extractByRules(
  field: ProfileField,
  utterances: readonly Utterance[],
  today: CalendarDay,
  problems: string[] = [],
): ExtractedField | undefined {
  const finds = (rule: Rule, search: PatternSearch | undefined, { utterance, from }: Heard) =>
    placesIn(rule, field, utterance.text, from, today, search).flatMap((place) => {
      const value = checkedValue(field, place.raw);
      return value === undefined ? [] : [{ value, evidence: evidenceIn(utterance, place.from, place.to) }];
    });
  for (const rule of field.rules) {
    const search = rule.pattern === undefined ? undefined : new PatternSearch(rule.pattern);
    // The first answer to a question that has a value counts.
    const found = scopeOf(rule, field, utterances).flatMap(
      (answers) => answers.map((heard) => finds(rule, search, heard)).find((each) => each.length > 0) ?? [],
    );
    if (search?.gaveUp === true)
      problems.push(`${field.name}: a pattern takes too long on this text, not all of it was searched`);
    const chosen = rule.take === 'first' ? found[0] : found.at(-1);
    if (chosen !== undefined) return { name: field.name, value: chosen.value, from: 'rules', evidence: [chosen.evidence] };
  }
  return undefined;
}

interface Heard {
  readonly utterance: Utterance;
  /** Characters before this are out of scope. */
  readonly from: number;
}

/** An answer may come only in the second piece of speech after its question, or in the question's own. */
const PIECES_AFTER = 2;

/** Where a rule looks: each utterance by itself, or for each question its possible answers in order. */
function scopeOf({ after }: Rule, { by }: ProfileField, utterances: readonly Utterance[]): Heard[][] {
  const mine = (each: Utterance): boolean => by === undefined || each.role === by;
  if (after.length === 0) return utterances.filter(mine).map((utterance) => [{ utterance, from: 0 }]);
  const phrases = after.map(tokenise);
  return utterances.flatMap((utterance, index) => {
    const tokens = spannedTokens(utterance.text);
    const ends = phrases.flatMap((phrase) => phraseSpans(tokens, phrase).map(({ to }) => to));
    if (ends.length === 0) return [];
    const told = mine(utterance) ? [{ utterance, from: Math.min(...ends) }] : [];
    const next = utterances
      .slice(index + 1)
      .filter(mine)
      .slice(0, PIECES_AFTER);
    return [[...told, ...next.map((each) => ({ utterance: each, from: 0 }))]];
  });
}

function placesIn(
  rule: Rule,
  field: ProfileField,
  text: string,
  from: number,
  today: CalendarDay,
  search: PatternSearch | undefined,
): Place[] {
  if (search !== undefined)
    return search
      .findIn(text)
      .filter((match) => match.from >= from)
      .map((match) => ({ ...match, raw: text.slice(match.from, match.to) }));
  if (rule.understand === 'email')
    return findPersonal(text, ['email'])
      .filter((span) => span.from >= from)
      .map((span) => ({ ...span, raw: text.slice(span.from, span.to) }));
  const tokens = spannedTokens(text).filter((token) => token.from >= from);
  const found = understood(rule, field, tokens, today);
  const span = found === undefined ? undefined : covering(tokens.slice(found.from, found.to));
  return found === undefined || span === undefined ? [] : [{ raw: found.value, ...span }];
}

function understood(
  { understand }: Rule,
  field: ProfileField,
  tokens: readonly SpannedToken[],
  today: CalendarDay,
): { value: string; from: number; to: number } | undefined {
  const words = tokens.map(({ word }) => word);
  switch (understand) {
    case 'day':
      return findDay(words, today);
    case 'time':
      return findTime(words);
    case 'digits':
      return findDigits(words);
    case 'yes-no':
      return findYesNo(words);
    case 'number': {
      for (const [index, word] of words.entries()) {
        if (/^\d+$/.test(word)) return { value: word, from: index, to: index + 1 };
        const number = numberAt(words, index);
        if (number !== undefined) return { ...number, value: String(number.value) };
      }
      return undefined;
    }
    case 'choice': {
      const choices = Object.entries(field.choices ?? {}).map(([name, phrases]) => ({
        name,
        phrases: [name, ...phrases].map(tokenise),
      }));
      return findChoice(words, choices);
    }
    case 'email':
    case undefined:
      return undefined;
  }
}
