import { type ClockTime, minutesOf } from './clock-time.ts';
import type { Language } from './language.ts';
import { sayNumber } from './numbers.ts';

/**
 * A time as people say it: `half past ten`, `quarter to nine`, `ten twenty`; `सुबह साढ़े दस बजे`.
 * @param withPart says the part of the day in English too (`half past ten in the morning`); Hindi always says it
 */
export function sayTime(language: Language, time: ClockTime, withPart = false): string {
  if (language === 'hi') return `${hindiPart(time)} ${hindiTime(time)}`;
  return withPart ? `${englishTime(time)} ${englishPart(time)}` : englishTime(time);
}

function englishTime(time: ClockTime): string {
  const hour = Math.floor(minutesOf(time) / 60);
  const minute = minutesOf(time) % 60;
  const name = (value: number): string => sayNumber('en', ((value + 11) % 12) + 1);
  if (minute === 0) return `${name(hour)} o'clock`;
  if (minute === 15) return `quarter past ${name(hour)}`;
  if (minute === 30) return `half past ${name(hour)}`;
  if (minute === 45) return `quarter to ${name(hour + 1)}`;
  return minute < 10 ? `${name(hour)} oh ${sayNumber('en', minute)}` : `${name(hour)} ${sayNumber('en', minute)}`;
}

function englishPart(time: ClockTime): string {
  const minutes = minutesOf(time);
  if (minutes < 12 * 60) return 'in the morning';
  if (minutes < 18 * 60) return 'in the afternoon';
  return minutes < 22 * 60 ? 'in the evening' : 'at night';
}

function hindiTime(time: ClockTime): string {
  const hour = Math.floor(minutesOf(time) / 60);
  const minute = minutesOf(time) % 60;
  const name = (value: number): string => sayNumber('hi', ((value + 11) % 12) + 1);
  if (minute === 0) return `${name(hour)} बजे`;
  if (minute === 15) return `सवा ${name(hour)} बजे`;
  if (minute === 45) return `पौने ${name(hour + 1)} बजे`;
  if (minute !== 30) return `${name(hour)} बजकर ${sayNumber('hi', minute)} मिनट`;
  if (hour % 12 === 1) return 'डेढ़ बजे';
  return hour % 12 === 2 ? 'ढाई बजे' : `साढ़े ${name(hour)} बजे`;
}

/** सुबह until noon, दोपहर until four, शाम until eight, then रात; before four in the morning it is still रात. */
function hindiPart(time: ClockTime): string {
  const minutes = minutesOf(time);
  if (minutes < 4 * 60) return 'रात';
  if (minutes < 12 * 60) return 'सुबह';
  if (minutes < 16 * 60) return 'दोपहर';
  return minutes < 20 * 60 ? 'शाम' : 'रात';
}
