import { ask } from './asking.ts';
import { provisionalText } from './transcript.ts';
import type { TurnSettings } from './turn-settings.ts';
import { type AskedInput, type In, type Step, type TurnEvent, type TurnState, quietly } from './turn-state.ts';

type Digit = TurnEvent & { readonly type: 'digit' };

/** A key where the caller has the floor, or may take it. */
export function keyPressed(settings: TurnSettings, state: TurnState, { atMs, digit }: Digit): Step {
  return trails(settings, state, digit, atMs) ? quietly(state) : keyed(settings, ...withPending(state, digit), atMs);
}

/** One more key of the answer. */
export function nextKey(settings: TurnSettings, state: In<'keying'>, { atMs, digit }: Digit): Step {
  const [next, digits] = withPending(state, digit);
  return keyed(settings, next, state.phase.digits + digits, atMs);
}

/** A pause between keys may complete the answer. */
export function keysMayBeComplete(settings: TurnSettings, state: In<'keying'>, atMs: number): Step {
  if (stillKeying(settings, state, atMs)) return quietly(state);
  return ask(state, keyedInput(settings, state, state.phase.digits), atMs, false);
}

/** Many callers end a number with # although its last digit had completed it. */
export function trails({ interDigitMs }: TurnSettings, { dialog: { asked } }: TurnState, key: string, atMs: number): boolean {
  return key === '#' && asked?.input.kind === 'keyed' && atMs - asked.atMs < interDigitMs;
}

/** The state without the keys kept for later, and those keys followed by this one. */
export function withPending<State extends TurnState>(state: State, key: string): [State, string] {
  return [withPendingDigits(state, ''), state.caller.pendingDigits + key];
}

export function withPendingDigits<State extends TurnState>(state: State, pendingDigits: string): State {
  return { ...state, caller: { ...state.caller, pendingDigits } };
}

/** The keys so far: complete on `#` or at the expected length, else waiting for more. */
export function keyed(settings: TurnSettings, state: TurnState, digits: string, atMs: number): Step {
  const complete = digits.endsWith('#') && digits.length > 1;
  const kept = complete ? digits.slice(0, -1) : digits;
  const { maxDigits } = state.dialog.expectation;
  if (complete || isMessage(state) || (maxDigits !== undefined && kept.length >= maxDigits) || isWhole(settings, state, kept))
    return ask(state, keyedInput(settings, state, kept), atMs, false);
  return quietly({ ...state, phase: { name: 'keying', digits: kept, lastMs: atMs } });
}

/** Keys alone, or after words for the same value. */
function keyedInput(settings: TurnSettings, state: TurnState, digits: string): AskedInput {
  const text = isMessage(state) ? provisionalText(state.caller.words) : wordsOfValue(settings, state);
  return text === '' ? { kind: 'keyed', digits } : { kind: 'spoken', text, keys: digits };
}

/** Whether any key ends what the caller says. */
function isMessage({ dialog }: TurnState): boolean {
  return dialog.expectation.message !== undefined;
}

/** What was said of the expected value; during a secret nothing is heard, so any words are from before. */
function wordsOfValue({ reader }: TurnSettings, { caller, dialog }: TurnState): string {
  const { value } = dialog.expectation;
  return value === undefined || reader.isSecret(value) ? '' : provisionalText(caller.words);
}

/** Whether the expected value is complete. */
function isWhole(settings: TurnSettings, state: TurnState, digits: string): boolean {
  const { value } = state.dialog.expectation;
  return value !== undefined && settings.reader.progress(value, wordsOfValue(settings, state), digits) === 'whole';
}

/** Whether more keys may come: people look up the rest of an incomplete value, and may go on aloud. */
function stillKeying(settings: TurnSettings, state: In<'keying'>, atMs: number): boolean {
  const { interDigitMs, incompletePatience, reader } = settings;
  const { phase, voice } = state;
  const { value } = state.dialog.expectation;
  if (value === undefined) return atMs - phase.lastMs < interDigitMs;
  const silentMs = atMs - Math.max(phase.lastMs, voice.lastVoicedMs ?? 0);
  const progress = reader.progress(value, wordsOfValue(settings, state), phase.digits);
  return silentMs < interDigitMs * (progress === 'missing' ? incompletePatience : 1);
}
