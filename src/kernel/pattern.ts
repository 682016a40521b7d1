import { RE2JS } from 're2js';
import { errorText } from './errors.ts';

/** Where a pattern's value stands in a text, in UTF-16 units. */
export interface PatternMatch {
  readonly from: number;
  readonly to: number;
}

/** Steps of the automaton: a pattern such as `.{0,1000}` has a thousand. */
const MOST_STEPS = 1_000;
/**
 * Work limit of one rule over a whole analysis, in characters of the longest search per match: each search is linear in its text, but many long ones
 * are not. About a second.
 */
const MOST_COST = 60_000_000;

/** Names of JavaScript that RE2 spells shorter. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
};

const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 1_000;

/**
 * Compiles an operator's regular expression, in JavaScript's syntax with the flags i and u, for an engine with linear search (RE2): JavaScript's own
 * can take practically for ever.
 * @throws SyntaxError that names the unsupported part, for people
 */
function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  // JavaScript must accept it too.
  try {
    void new RegExp(pattern, 'iu');
  } catch (error) {
    throw new SyntaxError(errorText(error).replace(/^.*\/iu: /su, ''), { cause: error });
  }
  if (/(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)/u.test(pattern)) throw new SyntaxError('it refers back to a group');
  const plain = pattern
    .replaceAll(/\\([pP])\{(?:Script|sc|Script_Extensions|scx|General_Category|gc)=(\w+)\}/gu, String.raw`\$1{$2}`)
    .replaceAll(/(?<=\\[pP]\{)\w+(?=\})/gu, (name) => CATEGORIES[name] ?? name);
  let made: RE2JS;
  try {
    made = RE2JS.compile(RE2JS.translateRegExp(plain), RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    throw new SyntaxError(reasonOf(errorText(error)), { cause: error });
  }
  if (made.programSize() > MOST_STEPS)
    throw new SyntaxError('its repetitions are too many: use fewer, or none with an upper limit');
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

function reasonOf(message: string): string {
  const [, what = message] = /^error parsing regexp: (.*)$/su.exec(message) ?? [];
  if (/`\(\?<?[=!]/u.test(what)) return 'it looks ahead or behind';
  if (what.includes('invalid repeat count')) return 'it repeats something more than 1000 times';
  return what.replace('`(?i)', '`');
}

/** Why a text is no valid pattern, for people; undefined for a valid one. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compile(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const wanted = String.raw`a regular expression of JavaScript's syntax without look-ahead, look-behind and back references, since it runs in linear time`;
    return `${JSON.stringify(pattern)} cannot be used: ${error.message}. Accepted is ${wanted}`;
  }
}

/** Searches one pattern in many texts, within a common work limit. */
export class PatternSearch {
  readonly #pattern: RE2JS;
  #costLeft = MOST_COST;

  /** @param pattern accepted by `patternProblem` */
  constructor(pattern: string) {
    this.#pattern = compile(pattern);
  }

  /** Whether the limit was reached, so that matches may be missing. */
  get gaveUp(): boolean {
    return this.#costLeft <= 0;
  }

  /** All non-empty matches in order: the group `value`, else the first group, else the whole match. */
  findIn(text: string): PatternMatch[] {
    const found: PatternMatch[] = [];
    // RE2 knows no blanks but ASCII's, and case of one unit stays one unit.
    const matcher = this.#pattern.matcher(text.replaceAll(/[^\S\t\n\v\f\r ]/gu, ' '));
    const group = 'value' in this.#pattern.namedGroups() ? 'value' : this.#pattern.groupCount() > 0 ? 1 : 0;
    for (let from = 0; ; from = matcher.end()) {
      this.#costLeft -= (text.length - from + 1) * this.#pattern.programSize();
      if (this.gaveUp || !matcher.find()) return found;
      const chosen = matcher.start(group) >= 0 ? group : 0;
      const [start, end] = [matcher.start(chosen), matcher.end(chosen)];
      if (end > start) found.push({ from: start, to: end });
    }
  }
}
