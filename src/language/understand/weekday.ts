import type { Weekday } from './calendar-day.ts';
import { type Found, phraseAt, phraseTable } from './tokens.ts';

const NAMED = phraseTable<Weekday>([
  ['monday', ['monday', 'mondays', 'mon', 'सोमवार', 'सोम', 'मंडे']],
  ['tuesday', ['tuesday', 'tuesdays', 'tue', 'tues', 'मंगलवार', 'मंगल', 'ट्यूज़डे']],
  ['wednesday', ['wednesday', 'wednesdays', 'wed', 'बुधवार', 'बुध', 'वेडनेसडे', 'वेन्ज़डे']],
  ['thursday', ['thursday', 'thursdays', 'thu', 'thur', 'thurs', 'गुरुवार', 'गुरूवार', 'बृहस्पतिवार', 'वीरवार', 'थर्सडे']],
  ['friday', ['friday', 'fridays', 'fri', 'शुक्रवार', 'शुक्र', 'फ़्राइडे']],
  ['saturday', ['saturday', 'saturdays', 'sat', 'शनिवार', 'शनिचर', 'सैटरडे']],
  ['sunday', ['sunday', 'sundays', 'रविवार', 'इतवार', 'संडे']],
]);

/** The weekday whose name stands at `index`. */
export function weekdayAt(tokens: readonly string[], index: number): Found<Weekday> | undefined {
  return phraseAt(tokens, index, NAMED);
}
