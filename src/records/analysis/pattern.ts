import { RE2JS } from 're2js';
import { errorText } from '../../kernel/errors.ts';

/** Where a pattern's value stands in a text, in UTF-16 units. */
export interface PatternMatch {
  readonly from: number;
  readonly to: number;
}

/** Steps of the automaton: a pattern such as `.{0,1000}` has a thousand. */
const MOST_STEPS = 1_000;
/**
 * What one rule may cost over a whole analysis, counted as the longest search that each match may have taken: a search is
 * linear in its text, and a pattern that searches to the end of a long text for every match is not. About a second.
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
 * A regular expression of an operator's own, in JavaScript's syntax with the flags i and u, run by an engine whose search is
 * linear in the text (RE2): with JavaScript's own, ten words can take longer than the universe lasts.
 * @throws SyntaxError that names what of it is not supported, for people
 */
function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  // What JavaScript refuses is refused, whatever RE2 makes of it.
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

/** What keeps a text from being a pattern, for people; undefined for one that is. */
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

/** Finds one pattern in many texts, within a limit of work for all of them together. */
export class PatternSearch {
  readonly #pattern: RE2JS;
  #costLeft = MOST_COST;

  /** @param pattern one of which `patternProblem` has nothing to say */
  constructor(pattern: string) {
    this.#pattern = compile(pattern);
  }

  /** Whether the limit was reached: what was found is then not all there is. */
  get gaveUp(): boolean {
    return this.#costLeft <= 0;
  }

  /** Every match in order: its group `value`, else its first group, else all of it; an empty one is none. */
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
