import { ask, withEarlyAsk } from './asking.ts';
import { isHesitation } from './backchannel.ts';
import { nothingSaid, withoutWords } from './dropped-speech.ts';
import { finalText, provisionalText } from './transcript.ts';
import type { EndpointingSettings, TurnSettings } from './turn-settings.ts';
import { type In, quietly, type Step } from './turn-state.ts';

/** Commit-to-final times that are remembered. */
const MOST_SETTLINGS = 20;

/**
 * Whether the committed turn is complete, by the rules of the design in their order.
 * @param atMs when what has been heard so far was said
 * @param nowMs when it came: what is sent now is answered after that
 */
export function turnMayBeComplete(settings: TurnSettings, state: In<'settling'>, atMs: number, nowMs = atMs): Step {
  return withEarlyAsk(settings, afterCommit(settings, state, atMs, nowMs), atMs);
}

export function afterCommit(settings: TurnSettings, state: In<'settling'>, atMs: number, nowMs: number): Step {
  const { endpointing } = settings;
  const { phase, caller, recogniser } = state;
  const waitedMs = nowMs - phase.sentAtMs;
  const silentMs = atMs - (state.voice.lastVoicedMs ?? phase.committedAtMs);
  const covered = finalText(caller.words) !== '' && caller.words.partial === undefined && silentMs >= endpointing.coveredMs;
  if (covered && !recogniser.marksEndOfUtterance) return completeTurn(settings, state, finalText(caller.words), false, atMs);
  const text = provisionalText(caller.words);
  if (text !== '' && waitedMs >= settleLimitMs(endpointing, percentile(recogniser.settlings, endpointing.settlePercentile)))
    return completeTurn(settings, state, text, true, atMs);
  if (waitedMs >= endpointing.settleAbandonMs) return completeTurn(settings, state, text, true, atMs);
  // What an interruption cut may go on yet: nothing is said into it.
  const silent = phase.fillerSaid || phase.interrupted || state.bot.muted;
  if (silent || waitedMs < settings.settlingFillerMs || phase.voicedMs < settings.voice.unclearMs) return quietly(state);
  return { state: { ...state, phase: { ...phase, fillerSaid: true } }, effects: [{ type: 'filler', waitingFor: 'words' }] };
}

/** Ends the caller's turn with these words, which may be none. */
export function completeTurn(
  settings: TurnSettings,
  state: In<'settling'>,
  text: string,
  provisional: boolean,
  atMs: number,
): Step {
  const { phase, caller, dialog } = state;
  if (isHesitation(text)) {
    // A partial may yet become more than that.
    const heard =
      caller.words.partial === undefined ? withoutWords(state) : { ...state, dialog: { ...dialog, early: undefined } };
    return nothingSaid(heard, phase.interrupted, atMs);
  }
  const enoughMs = phase.interrupted ? settings.interruption.meantMs : settings.voice.unclearMs;
  if (text === '' && phase.voicedMs < enoughMs) return nothingSaid(state, phase.interrupted, atMs);
  return ask(state, { kind: 'spoken', text }, atMs, provisional);
}

/** The answer to a commit came so long after it. */
export function withSettling(state: In<'settling'>, settledMs: number): In<'settling'> {
  const { recogniser } = state;
  return { ...state, recogniser: { ...recogniser, settlings: [...recogniser.settlings, settledMs].slice(-MOST_SETTLINGS) } };
}

/**
 * How long to wait for a final after a commit, within the bounds.
 * @param usualMs what most of this session's finals took; undefined before the first one
 */
export function settleLimitMs(settings: EndpointingSettings, usualMs: number | undefined): number {
  const wanted = usualMs === undefined ? settings.settleCapMs : settings.settleMargin * usualMs;
  return Math.min(settings.settleCapMs, Math.max(settings.settleFloorMs, wanted));
}

/** A percentile of a short list (nearest rank), or undefined when it is empty. @param share 0 to 1 */
export function percentile(values: readonly number[], share: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
