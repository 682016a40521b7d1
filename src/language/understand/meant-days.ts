import { countsBefore } from './day.ts';
import { phraseAt, phraseTable, tokenise } from './tokens.ts';

/** Words that name a day, `from` up to, not including, `to`. */
export interface DayWords {
  readonly from: number;
  readonly to: number;
  /** Named by its date. A weekday or `today` beside it adds nothing, unless it is a correction. */
  readonly dated?: boolean;
}

const NOT = new Set(tokenise("not except excluding than never can't cannot don't won't wouldn't isn't"));
/** `Any day but Friday`, `apart from Friday`, `instead of Friday`. */
const ALL_BUT = new Set(['anything but', 'any but', 'day but', 'days but', 'time but', 'apart from', 'aside from', 'instead of']);
/** Words between a negation and its day: `I can't come on Friday`. */
const LINKS = new Set('this coming on for to do be it i we you make come have take want need book available free'.split(' '));
/** Words after a day, and whether they negate it. */
const DENIALS = phraseTable<boolean>([
  [true, ['is not', "isn't", 'is no good', 'does not', "doesn't", 'will not', "won't", "wouldn't", 'would not']],
  [true, ['I cannot', "I can't", 'I can not', 'cannot', "can't", "I don't", 'I do not', "I won't", 'I will not']],
  [true, ['नहीं', 'नही', 'को नहीं', 'को नही', 'तो नहीं', 'मत', 'को मत', 'nahi', 'nahin', 'ko nahi', 'ko nahin']],
  [false, ["isn't it", 'is not it', "isn't a problem", 'is not a problem', "isn't bad", 'is not bad', "doesn't matter"]],
]);
const OR = new Set(tokenise('or या ya'));
/** Words between two alternatives, neither of which is the answer. */
const BOTH = new Set(['and', 'to', 'through', ...tokenise('और')]);
const CORRECTS = new Set(tokenise('no actually sorry rather instead wait mean better make नहीं नही nahi nahin सॉरी बल्कि'));
const WEEK = new Set(tokenise('week हफ़्ते सप्ताह'));
const LAST = new Set(tokenise('last पिछले'));
const AROUND = phraseTable<true>([
  [true, ['के बाद', 'से पहले', 'के पहले', 'ke baad', 'se pehle', 'last week', 'of last week', 'in last week']],
]);

/**
 * The days that are meant of those named: the last one, as in a correction (`Monday, no, Tuesday`), with its alternatives (`Monday or
 * Tuesday`), without negated ones (`not Monday`).
 */
export function meantDays<Day extends DayWords>(tokens: readonly string[], named: readonly Day[]): readonly Day[] {
  let meant: Day[] = [];
  let before: Day | undefined;
  let denied = false;
  for (const day of named) {
    const between = before === undefined ? [] : tokens.slice(before.to, day.from);
    const offered = before !== undefined && isOffered(between);
    // "Not Friday the fifth", "not Monday or Tuesday"
    const carriesOn = offered || (between.length === 0 && before?.dated !== true && day.dated === true);
    denied = (denied && carriesOn) || isDenied(tokens, day);
    before = day;
    if (denied) continue;
    if (offered) meant.push(day);
    else if (day.dated === true || !meant.some(({ dated }) => dated === true) || between.some(corrects)) meant = [day];
  }
  return meant;
}

/**
 * Whether a day only describes another one: `before Friday`, `a few weeks from today`, `शुक्रवार के बाद`,
 * `Friday of last week`.
 */
export function isVague(tokens: readonly string[], { from, to }: DayWords): boolean {
  const at = beforeLinks(tokens, from);
  const word = tokens[at] ?? '';
  if (word === 'before' || word === 'after' || word === 'weeks') return true;
  if (WEEK.has(word) && LAST.has(tokens[at - 1] ?? '')) return true;
  return (word === 'from' && countsBefore(tokens, at)) || phraseAt(tokens, to, AROUND, 3) !== undefined;
}

function isOffered(between: readonly string[]): boolean {
  const [word, ...others] = between;
  if (word !== undefined && others.length === 0 && BOTH.has(word)) return true;
  return between.some((word) => OR.has(word)) && !between.some(corrects);
}

function isDenied(tokens: readonly string[], { from, to }: DayWords): boolean {
  const at = beforeLinks(tokens, from);
  // "Why not Monday?" offers it.
  if (NOT.has(tokens[at] ?? '') && tokens[at - 1] !== 'why') return true;
  if (ALL_BUT.has(tokens.slice(Math.max(0, at - 1), at + 1).join(' '))) return true;
  return phraseAt(tokens, to, DENIALS)?.value === true;
}

function beforeLinks(tokens: readonly string[], from: number): number {
  let at = from - 1;
  while (LINKS.has(tokens[at] ?? '')) at--;
  return at;
}

function corrects(word: string): boolean {
  return CORRECTS.has(word);
}
