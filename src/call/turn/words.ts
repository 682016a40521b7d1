import { spokeSinceAsked } from './asking.ts';
import { completeTurn, turnMayBeComplete, withSettling } from './endpointing.ts';
import { stayed } from './farewell.ts';
import { NO_WORDS, type TurnWords, addFinal, addPartial, finalText, hasWords, provisionalText, sameWords } from './transcript.ts';
import type { TurnSettings } from './turn-settings.ts';
import { type In, NO_EFFECTS, type PhaseName, type Step, type TurnEvent, type TurnState, quietly } from './turn-state.ts';

type Partial = TurnEvent & { readonly type: 'partial' };
type Final = TurnEvent & { readonly type: 'final' };
/** What words of the turn that is not asked yet mean in one phase. */
type Meaning<Name extends PhaseName> = (settings: TurnSettings, state: In<Name>, atMs: number) => Step;
type Rule<Name extends PhaseName, Event> = (settings: TurnSettings, state: In<Name>, event: Event) => Step;

/** Takes a partial in, unless it is of words already asked, and has its words mean something. */
export function partialThen<Name extends PhaseName>(then: Meaning<Name>): Rule<Name, Partial> {
  return (settings, state, event) => {
    const { seg, text, atMs } = event;
    if (seg <= state.recogniser.askedSeg) return quietly(state);
    const before = wordsOfOpening(state, event);
    if (before !== undefined) return before;
    const heard = withWords(state, addPartial(state.caller.words, seg, text), atMs);
    return hasWords(heard.caller.words) ? then(settings, heard, atMs) : quietly(heard);
  };
}

/** Takes a final in and has its words mean something; one of a turn already asked corrects that. */
export function finalThen<Name extends PhaseName>(then: Meaning<Name>): Rule<Name, Final> {
  return (settings, before, event) => {
    const state = withCommitAnswered(before, event);
    const stale = staleFinal(state, event);
    if (stale !== undefined) return stale;
    const heard = withWords(state, addFinal(state.caller.words, event.seg, event.text), event.atMs);
    return hasWords(heard.caller.words) ? then(settings, heard, event.atMs) : quietly(heard);
  };
}

/** The final that a committed turn waits for, or another one before it. */
export function finalWhileSettling(settings: TurnSettings, before: In<'settling'>, event: Final): Step {
  const state = withCommitAnswered(before, event);
  const stale = staleFinal(state, event);
  if (stale !== undefined) return stale;
  const { seg, text, atMs, endOfUtterance } = event;
  const heard = withWords(state, addFinal(state.caller.words, seg, text), atMs);
  const isLast = endOfUtterance === true;
  const settled = isLast || text.trim() !== '' ? withSettling(heard, atMs - heard.phase.sentAtMs) : heard;
  if (isLast && settled.recogniser.commitsOutstanding === 0)
    return completeTurn(settings, settled, finalText(settled.caller.words), false, atMs);
  return turnMayBeComplete(settings, settled, atMs);
}

/** Words that arrive while the dialog thinks: without new speech they belong to the asked turn. */
export function finalWhileThinking(_settings: TurnSettings, before: In<'thinking'>, event: Final): Step {
  const state = withCommitAnswered(before, event);
  const stale = staleFinal(state, event);
  if (stale !== undefined) return stale;
  const heard = withWords(state, addFinal(state.caller.words, event.seg, event.text), event.atMs);
  return event.text.trim() !== '' && !spokeSinceAsked(heard) ? lateWords(heard, event) : quietly(heard);
}

const noted: Meaning<PhaseName> = (_settings, state) => quietly(state);
/** Words that are kept, and change nothing now. */
export const partialNoted = partialThen(noted);
export const finalNoted = finalThen(noted);

/** Words without detected voice: they take the floor. */
export function wordsTakeFloor(_settings: TurnSettings, state: In<'listening'>, atMs: number): Step {
  const lastVoicedMs = Math.max(state.voice.lastVoicedMs ?? 0, atMs);
  const phase = { name: 'caller-speaking', sinceMs: atMs, voicedMs: 0, evidenceMs: 0, interrupted: false } as const;
  return quietly({ ...state, voice: { ...state.voice, lastVoicedMs }, phase });
}

function withWords<State extends TurnState>(state: State, words: TurnWords, atMs: number): State {
  const changed = provisionalText(words) !== provisionalText(state.caller.words);
  const wordsChangedMs = changed ? atMs : state.caller.wordsChangedMs;
  return { ...state, caller: { ...state.caller, words, wordsChangedMs } };
}

function withCommitAnswered<State extends TurnState>(state: State, { endOfUtterance }: Final): State {
  if (endOfUtterance === undefined) return state;
  const { commitsOutstanding: before } = state.recogniser;
  const commitsOutstanding = endOfUtterance ? Math.max(0, before - 1) : before;
  return { ...state, recogniser: { ...state.recogniser, marksEndOfUtterance: true, commitsOutstanding } };
}

/** The effect of a final that is not awaited any longer; undefined for any other. */
function staleFinal(state: TurnState, event: Final): Step | undefined {
  if (event.seg <= state.recogniser.droppedSeg) return quietly(state);
  return wordsOfOpening(state, event) ?? (event.seg <= state.recogniser.askedSeg ? lateWords(state, event) : undefined);
}

/** Longest delay of words after they were said. */
const MOST_DELAY_MS = 2_500;

/** Late words of the person's first sentence on an outbound call, after the greeting: no answer to it. */
function wordsOfOpening(state: TurnState, event: Partial | Final): Step | undefined {
  const { dialog, recogniser } = state;
  const { asked } = dialog;
  if (asked?.input.kind !== 'start' || asked.input.heard === undefined) return undefined;
  if (spokeSinceAsked(state) && event.seg > recogniser.askedSeg) return undefined;
  if (event.atMs - asked.atMs > MOST_DELAY_MS) return undefined;
  const add = event.type === 'partial' ? addPartial : addFinal;
  const words = add(asked.words, event.seg, event.text);
  const heard = provisionalText(words);
  const amended = { ...asked, words, input: { ...asked.input, heard } };
  const used = { ...recogniser, askedSeg: Math.max(recogniser.askedSeg, event.seg) };
  const isNew = event.type === 'final' && !sameWords(heard, asked.input.heard);
  return {
    state: { ...state, dialog: { ...dialog, asked: amended }, recogniser: used },
    effects: isNew ? [{ type: 'amend-history', text: heard }] : NO_EFFECTS,
  };
}

/** A final for a turn that was already asked: ask again if nothing of the reply was heard, else only remember it. */
function lateWords(state: TurnState, event: Final): Step {
  const { phase, caller, recogniser, dialog } = state;
  const { asked } = dialog;
  if (event.text.trim() === '' || asked?.input.kind !== 'spoken') return quietly(state);
  const words = addFinal(asked.words, event.seg, event.text);
  const text = provisionalText(words);
  const used = { ...recogniser, askedSeg: Math.max(recogniser.askedSeg, event.seg) };
  if (sameWords(text, asked.input.text))
    return { state: { ...state, dialog: { ...dialog, asked: { ...asked, words } }, recogniser: used }, effects: NO_EFFECTS };
  const input = { ...asked.input, text };
  const amended: TurnState = { ...state, dialog: { ...dialog, asked: { ...asked, words, input } }, recogniser: used };
  if (phase.name !== 'thinking') return { state: amended, effects: [{ type: 'amend-history', text }] };
  return {
    state: {
      ...amended,
      caller: { ...caller, words: NO_WORDS },
      phase: { ...phase, sinceMs: event.atMs },
      dialog: { ...amended.dialog, expectation: {} },
      farewell: stayed(state.farewell),
    },
    effects: [{ type: 'ask-again', input, atMs: event.atMs }],
  };
}
