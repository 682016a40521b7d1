import { silentLastWords } from './farewell.ts';
import { addFinal, addPartial, finalText, NO_WORDS, provisionalText } from './transcript.ts';
import type { OptOutSettings, TurnSettings } from './turn-settings.ts';
import { type HeardOptOut, NO_OPT_OUT, type OptOutPart, type Step, type TurnEvent, type TurnState } from './turn-state.ts';
import { quietMs } from './voice.ts';

/**
 * Words and keys by which the caller opts out. They count in every phase, before the table of phases. After one, the bot only acknowledges and hangs
 * up: the state is `last-words`, which has no rule that asks the dialog.
 */

type Digit = TurnEvent & { readonly type: 'digit' };
type Words = TurnEvent & { readonly type: 'partial' | 'final' };

/** A refusal is a caller's last sentence: only this many words at the end of a long turn are read. */
const MOST_WORDS = 60;

/** Takes in a possible opt-out and reports it once certain; undefined for unrelated events. */
export function listenForOptOut(settings: TurnSettings, state: TurnState, event: TurnEvent): TurnState | Step | undefined {
  const { optOut } = state;
  if (optOut.heard) return undefined;
  if (event.type === 'digit') return keyHeard(settings, state, event);
  if (event.type === 'partial' || event.type === 'final') {
    const next = withWords(settings.optOut, optOut, event);
    return next === optOut ? undefined : heardBy(settings, { ...state, optOut: next }, event.atMs);
  }
  // A machine cannot opt out, whatever it says of lists and calls.
  const wasMachine = event.type === 'person-answered' && optOut.words.lastSeg <= event.afterSeg;
  if (wasMachine || event.type === 'machine-answered') return { ...state, optOut: NO_OPT_OUT };
  if (event.type === 'person-answered' && optOut.reading !== undefined)
    return optedOut({ ...state, answering: false }, { kind: optOut.reading.kind, how: 'spoken', atMs: event.atMs });
  const waits = optOut.reading !== undefined || optOut.key !== undefined;
  if (!waits || (event.type !== 'frame' && event.type !== 'tick')) return undefined;
  return heardBy(settings, state, event.type === 'frame' ? event.frame.atMs : event.atMs);
}

export function isStep(found: TurnState | Step): found is Step {
  return 'effects' in found;
}

/** Segments of one breath are read together: recognisers cut within sentences. */
function withWords(settings: OptOutSettings, before: OptOutPart, event: Words): OptOutPart {
  const { seg, text, atMs } = event;
  if (text.trim() === '' && before.words.partial?.seg !== seg) return before;
  const isNew = seg > before.words.lastSeg && atMs - before.changedMs > settings.apartMs;
  const base = isNew ? NO_WORDS : before.words;
  const words = event.type === 'partial' ? addPartial(base, seg, text) : addFinal(base, seg, text);
  if (words === base) return before;
  const said = provisionalText(words);
  const changed = said !== provisionalText(before.words);
  const kind = changed ? settings.read(lastWordsOf(said)) : before.reading?.kind;
  const sinceMs = before.reading !== undefined && before.reading.kind === kind ? before.reading.sinceMs : atMs;
  const reading = kind === undefined ? undefined : { kind, sinceMs, isFinal: finalText(words) === said };
  // Words after a key continue an answer.
  return { ...before, words, changedMs: changed ? atMs : before.changedMs, reading, key: undefined };
}

function lastWordsOf(text: string): string {
  const words = text.split(' ');
  return words.length <= MOST_WORDS ? text : words.slice(-MOST_WORDS).join(' ');
}

/**
 * Words count once the caller is quiet after them; partials must also be stable: "don't call me" may continue with "before six". Words that refuse
 * for long enough count even on a line that is never quiet.
 */
function heardBy(settings: TurnSettings, state: TurnState, atMs: number): TurnState | Step {
  const { quietForMs, stillMs, heldMs } = settings.optOut;
  const { reading, key, changedMs } = state.optOut;
  if (key !== undefined && atMs - key.sinceMs >= settings.interDigitMs)
    return optedOut(state, { kind: 'opt-out', how: 'keyed', atMs });
  // Words wait until it is known that a person answered.
  if (reading === undefined || state.answering) return state;
  const isStill = reading.isFinal || atMs - changedMs >= stillMs;
  const isSaid = (isStill && quietMs(state.voice, atMs) >= quietForMs) || atMs - reading.sinceMs >= heldMs;
  return isSaid ? optedOut(state, { kind: reading.kind, how: 'spoken', atMs }) : state;
}

/**
 * The opt-out key. A question that expects digits keeps its digits, except where the law requires the key to work at any moment: there it counts when
 * pressed alone.
 */
function keyHeard(settings: TurnSettings, state: TurnState, { atMs, digit }: Digit): TurnState | Step | undefined {
  const { key, keyAtAnyMoment } = settings.optOut;
  if (key === undefined) return undefined;
  const pressed = state.phase.name === 'keying' ? state.phase.digits : state.caller.pendingDigits;
  const isAlone = digit === key && pressed === '' && !endsKeyedAnswer(settings, state, atMs);
  const { maxDigits, value } = state.dialog.expectation;
  const keyed = { kind: 'opt-out', how: 'keyed', atMs } as const;
  if (maxDigits === undefined && value === undefined) return isAlone ? optedOut(state, keyed) : undefined;
  if (!keyAtAnyMoment) return undefined;
  const completes = maxDigits === 1 || (value !== undefined && settings.reader.progress(value, '', digit) === 'whole');
  if (isAlone) return completes ? optedOut(state, keyed) : { ...state, optOut: { ...state.optOut, key: { sinceMs: atMs } } };
  if (digit === '#' && state.optOut.key !== undefined) return optedOut(state, keyed);
  return state.optOut.key === undefined ? undefined : { ...state, optOut: { ...state.optOut, key: undefined } };
}

/** A further digit of a number that was complete and already asked with. */
function endsKeyedAnswer({ interDigitMs }: TurnSettings, { dialog: { asked } }: TurnState, atMs: number): boolean {
  const byKeys = asked?.input.kind === 'keyed' || (asked?.input.kind === 'spoken' && asked.input.keys !== undefined);
  return byKeys && asked !== undefined && atMs - asked.atMs < interDigitMs;
}

/** The bot falls silent, acknowledges and hangs up; during a transfer by the carrier the opt-out is only noted. */
function optedOut(before: TurnState, heard: HeardOptOut): Step {
  const state = { ...before, optOut: { ...NO_OPT_OUT, heard: true } };
  const noted = { type: 'opted-out', ...heard } as const;
  if (state.farewell.stage === 'transferring') return { state, effects: [noted] };
  const said = silentLastWords(state, {
    phrase: heard.kind === 'opt-out' ? 'optedOut' : 'wrongNumber',
    reason: heard.kind,
    transferTo: undefined,
  });
  return { state: said.state, effects: [noted, ...said.effects] };
}
