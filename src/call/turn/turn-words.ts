import { containsPhrase, isBackchannel } from './backchannel.ts';
import { mayInterrupt } from './interruption.ts';
import { spokeSinceAsked } from './turn-rollback.ts';
import { addFinal, addPartial, finalText, hasWords, NO_WORDS, provisionalText, sameWords } from './transcript.ts';
import { afterTime, completeTurn, NO_EFFECTS } from './turn-steps.ts';
import type { Step, TurnEvent, TurnSettings, TurnState } from './turn-state.ts';

type Partial = TurnEvent & { type: 'partial' };
type Final = TurnEvent & { type: 'final' };

const MOST_SETTLINGS = 20;

export function onPartial(settings: TurnSettings, state: TurnState, event: Partial): Step {
  if (event.seg <= state.askedSeg) return { state, effects: NO_EFFECTS };
  const words = addPartial(state.words, event.seg, event.text);
  const changed = provisionalText(words) !== provisionalText(state.words);
  return withWords(settings, { ...state, words, wordsChangedMs: changed ? event.atMs : state.wordsChangedMs }, event.atMs);
}

export function onFinal(settings: TurnSettings, before: TurnState, event: Final): Step {
  const last = event.endOfUtterance === true;
  const state: TurnState = {
    ...before,
    marksEndOfUtterance: before.marksEndOfUtterance || event.endOfUtterance !== undefined,
    commitsOutstanding: last ? Math.max(0, before.commitsOutstanding - 1) : before.commitsOutstanding,
  };
  if (event.seg <= state.droppedSeg) return { state, effects: NO_EFFECTS };
  if (event.seg <= state.askedSeg) return lateWords(state, event);
  const words = addFinal(state.words, event.seg, event.text);
  const changed = provisionalText(words) !== provisionalText(state.words);
  const next: TurnState = { ...state, words, wordsChangedMs: changed ? event.atMs : state.wordsChangedMs };
  if (next.phase.name === 'settling') {
    const answers = last || event.text.trim() !== '';
    const settled: TurnState = answers
      ? { ...next, settlings: [...next.settlings, event.atMs - next.phase.sentAtMs].slice(-MOST_SETTLINGS) }
      : next;
    if (last && next.commitsOutstanding === 0) return completeTurn(settled, next.phase, finalText(words), false, event.atMs);
    return afterTime(settings, settled, event.atMs);
  }
  if (next.phase.name === 'thinking' && event.text.trim() !== '' && !spokeSinceAsked(next)) return lateWords(next, event);
  return withWords(settings, next, event.atMs);
}

/** What words alone do to the floor: a caller too quiet for the voice detector is heard by them. */
function withWords(settings: TurnSettings, state: TurnState, atMs: number): Step {
  if (!hasWords(state.words)) return { state, effects: NO_EFFECTS };
  const { phase, hearing } = state;
  if (phase.name === 'listening') {
    const lastVoicedMs = Math.max(hearing.lastVoicedMs ?? 0, atMs);
    const speaking = { name: 'caller-speaking', sinceMs: atMs, voicedMs: 0, evidenceMs: 0, interrupted: false } as const;
    return { state: { ...state, hearing: { ...hearing, lastVoicedMs }, phase: speaking }, effects: NO_EFFECTS };
  }
  if (phase.name !== 'bot-speaking' || !mayInterrupt(phase.policy, 'voice')) return { state, effects: NO_EFFECTS };
  const { reverseWithinMs, stopPhrases } = settings.interruption;
  const text = provisionalText(state.words);
  const lastVoicedMs = hearing.lastVoicedMs ?? Number.NEGATIVE_INFINITY;
  // Words without a voice behind them are an echo's; words of listening do not want the floor.
  const voiced = spokeSinceAsked(state) && atMs - lastVoicedMs <= reverseWithinMs;
  const wantsFloor = voiced && !isBackchannel(text, state.expectation.asked === true);
  if (!wantsFloor && !containsPhrase(text, stopPhrases)) return { state, effects: NO_EFFECTS };
  const onsetMs = hearing.burstSinceMs ?? (voiced ? lastVoicedMs : atMs);
  return {
    state: {
      ...state,
      phase: {
        name: 'caller-speaking',
        sinceMs: onsetMs,
        voicedMs: atMs - onsetMs,
        evidenceMs: hearing.burst.evidenceMs,
        interrupted: true,
      },
    },
    effects: [{ type: 'clear', by: 'words', onsetMs, atMs }],
  };
}

/** A final for a turn that was already asked: ask again if nothing of the reply was heard, else only remember it. */
function lateWords(state: TurnState, event: Final): Step {
  const { asked, phase } = state;
  if (event.text.trim() === '' || asked?.input.kind !== 'spoken') return { state, effects: NO_EFFECTS };
  const words = addFinal(asked.words, event.seg, event.text);
  const text = provisionalText(words);
  const askedSeg = Math.max(state.askedSeg, event.seg);
  if (sameWords(text, asked.input.text))
    return { state: { ...state, asked: { ...asked, words }, askedSeg }, effects: NO_EFFECTS };
  const input = { ...asked.input, text };
  const amended: TurnState = { ...state, asked: { ...asked, words, input }, askedSeg };
  if (phase.name !== 'thinking') return { state: amended, effects: [{ type: 'amend-history', text }] };
  return {
    state: {
      ...amended,
      words: NO_WORDS,
      phase: { ...phase, sinceMs: event.atMs },
      expectation: {},
    },
    effects: [{ type: 'ask-again', input, atMs: event.atMs }],
  };
}
