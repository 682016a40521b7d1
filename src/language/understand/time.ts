import { type ClockTime, DAYTIME, meantTime, type SpokenTime, type TimeWindow } from './clock-time.ts';
import { findDayPart } from './day-part.ts';
import { englishTimeAt } from './english-time.ts';
import { hindiTimeAt } from './hindi-time.ts';
import type { Found } from './tokens.ts';

export interface TimeOptions {
  /** Tells which `ten` is meant where nothing else does: opening hours, for example. */
  readonly window?: TimeWindow;
  /** A time was asked for, so a number alone is one (`ten`, `1030`). */
  readonly bare?: boolean;
}

/**
 * The time that an utterance names, in English or Hindi; of several the last one, since people correct themselves
 * forwards (`at ten, no, at eleven`).
 */
export function findTime(tokens: readonly string[], options: TimeOptions = {}): Found<ClockTime> | undefined {
  const part = findDayPart(tokens);
  let last: Found<SpokenTime> | undefined;
  for (let index = 0; index < tokens.length;) {
    const found = timeAt(tokens, index, options.bare === true, part !== undefined);
    if (found !== undefined) last = found;
    index = found?.to ?? index + 1;
  }
  if (last === undefined) return undefined;
  return { ...last, value: meantTime(last.value, part?.value, options.window ?? DAYTIME) };
}

/** Keyed `0930`, `930` or `15`; undefined when that is no time. */
export function timeOfKeys(digits: string, window: TimeWindow = DAYTIME): ClockTime | undefined {
  const spoken = figures(digits);
  if (spoken === undefined) return undefined;
  // A leading zero on four keys is how the 24-hour clock is written: 0130 is in the night.
  return meantTime(spoken, digits.length === 4 && digits.startsWith('0') ? 'am' : undefined, window);
}

function timeAt(tokens: readonly string[], index: number, bare: boolean, partNamed: boolean): Found<SpokenTime> | undefined {
  const written = /^(\d{1,2}):(\d{2})$/.exec(tokens[index]!);
  if (written !== null) {
    const spoken = { hour: Number(written[1]), minute: Number(written[2]) };
    return spoken.hour < 24 && spoken.minute < 60 ? { value: spoken, from: index, to: index + 1 } : undefined;
  }
  const spoken = hindiTimeAt(tokens, index, bare || partNamed) ?? englishTimeAt(tokens, index, bare || partNamed);
  if (spoken !== undefined) return spoken;
  const keyed = bare && /^\d{3,4}$/.test(tokens[index]!) ? figures(tokens[index]!) : undefined;
  return keyed === undefined ? undefined : { value: keyed, from: index, to: index + 1 };
}

function figures(digits: string): SpokenTime | undefined {
  if (!/^\d{1,4}$/.test(digits)) return undefined;
  const hour = Number(digits.length <= 2 ? digits : digits.slice(0, -2));
  const minute = digits.length <= 2 ? 0 : Number(digits.slice(-2));
  return hour < 24 && minute < 60 ? { hour, minute } : undefined;
}
