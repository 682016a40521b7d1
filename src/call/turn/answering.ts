import { ask, withCommit } from './asking.ts';
import { goodbyeHeard, stayed } from './farewell.ts';
import { finalText, provisionalText, type TurnWords } from './transcript.ts';
import type { TurnSettings } from './turn-settings.ts';
import { type Phase, type Step, type TurnEffect, type TurnEvent, type TurnState, quietly } from './turn-state.ts';
import { withoutWords } from './endpointing.ts';

/** The beginning of an outbound call: who answered is classified beside the turns, which begin once it is a person. */

type EventOf<Type extends TurnEvent['type']> = TurnEvent & { readonly type: Type };

/** No input is expected yet. */
const NOBODY: Phase = { name: 'listening', sinceMs: Number.POSITIVE_INFINITY };

export function dialledAnswered(_settings: TurnSettings, state: TurnState): Step {
  return quietly({ ...state, answering: true, phase: NOBODY });
}

/** The bot was greeting or further, and a machine answered. */
export function machineAnswered(_settings: TurnSettings, before: TurnState): Step {
  const state = withoutWords(before);
  const dialog = { ...state.dialog, expectation: {}, asked: undefined };
  return {
    state: { ...state, answering: true, phase: NOBODY, dialog, farewell: stayed(state.farewell) },
    effects: [{ type: 'silence' }],
  };
}

/** The dialog greets. It has the person's first words as far as recognised; the rest of them is no answer to the greeting. */
export function personAnswered(_settings: TurnSettings, before: TurnState, event: EventOf<'person-answered'>): Step {
  const { atMs, afterSeg } = event;
  const state = { ...before, answering: false, farewell: stayed(before.farewell) };
  const silenced: readonly TurnEffect[] = event.silences ? [{ type: 'silence' }] : [];
  const { lastVoicedMs } = state.voice;
  if (lastVoicedMs === undefined) return greet(state, afterSeg, atMs, silenced);
  const committed = { ...state, recogniser: withCommit(state.recogniser, atMs) };
  return greet(committed, afterSeg, atMs, [...silenced, { type: 'commit', reason: 'answered', lastVoicedMs }]);
}

/** The mailbox records: the dialog provides the message. */
export function messageDue(_settings: TurnSettings, state: TurnState, { atMs }: EventOf<'message-due'>): Step {
  return greet(state, -1, atMs, []);
}

function greet(state: TurnState, afterSeg: number, atMs: number, before: readonly TurnEffect[]): Step {
  const words = wordsAfter(state.caller.words, afterSeg);
  const recogniser = { ...state.recogniser, askedSeg: Math.max(state.recogniser.askedSeg, afterSeg) };
  const asking = { ...state, phase: NOBODY, recogniser, caller: { ...state.caller, words } };
  const next = ask(asking, { kind: 'start', heard: provisionalText(words) }, atMs, finalText(words) === '');
  return { state: next.state, effects: [...before, ...next.effects] };
}

function wordsAfter(words: TurnWords, seg: number): TurnWords {
  if (seg < 0) return words;
  const finals = new Map([...words.finals].filter(([at]) => at > seg));
  const partial = words.partial !== undefined && words.partial.seg > seg ? words.partial : undefined;
  return { finals, partial, lastSeg: words.lastSeg };
}

/** Words to a machine were played to their end. */
export function playedToMachine(settings: TurnSettings, state: TurnState): Step {
  const { farewell } = state;
  const played: TurnState = { ...state, phase: NOBODY };
  return farewell.stage === 'none' ? quietly(played) : goodbyeHeard(settings, played);
}
