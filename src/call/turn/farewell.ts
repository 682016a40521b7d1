import { callerMustBeHeard } from './floor.ts';
import type { TurnSettings } from './turn-settings.ts';
import type { Farewell } from './farewell-state.ts';
import { type Line, type Step, type TurnEvent, type TurnState, quietly } from './turn-state.ts';

/** How a call ends from our side: after the current reply, or after uninterruptible last words. */

type EventOf<Type extends TurnEvent['type']> = TurnEvent & { readonly type: Type };

/** End reason if the line goes now; undefined where that would be the caller's doing. */
export function reasonToEnd({ farewell }: TurnState): string | undefined {
  switch (farewell.stage) {
    case 'none':
      return undefined;
    case 'after-reply':
    case 'last-words':
      return farewell.transferTo === undefined ? farewell.reason : undefined;
    case 'transferring':
    case 'connecting':
      return 'transferred';
  }
}

/** The bot leaves once its current words were heard; a caller who answers before that is heard. */
export function leaveAfterReply(
  _settings: TurnSettings,
  state: TurnState,
  { reason, transferTo, warm }: EventOf<'leave-after-reply'>,
): Step {
  if (state.farewell.stage === 'connecting') return quietly(state);
  return quietly({
    ...state,
    farewell: { stage: 'after-reply', reason, transferTo, warm, heard: false, patientUntilMs: undefined },
  });
}

/** The caller is answered: the bot does not leave. */
export function stayed(farewell: Farewell): Farewell {
  return farewell.stage === 'after-reply' ? { stage: 'none' } : farewell;
}

/** Says a last sentence, then ends. */
export function lastWords(_settings: TurnSettings, state: TurnState, event: EventOf<'last-words'>): Step {
  const { phrase, reason, transferTo } = event;
  if (state.farewell.stage === 'last-words') return quietly(state);
  return {
    state: { ...state, farewell: { stage: 'last-words', reason, transferTo, heard: false, patientUntilMs: undefined } },
    effects: [{ type: 'say-last', phrase }],
  };
}

/** Silences the bot, says one last sentence and leaves; replaces an earlier farewell. */
export function silentLastWords(state: TurnState, { phrase, reason, transferTo }: Omit<EventOf<'last-words'>, 'type'>): Step {
  return {
    state: { ...state, farewell: { stage: 'last-words', reason, transferTo, heard: false, patientUntilMs: undefined } },
    effects: [{ type: 'silence' }, { type: 'say-last', phrase }],
  };
}

/** The call cannot continue: apologises and leaves; broken last words are cut short. */
export function apologise(settings: TurnSettings, state: TurnState, { phrase, reason, transferTo }: EventOf<'apologise'>): Step {
  const { farewell } = state;
  if (farewell.stage === 'last-words') return lastWordsBroke(state);
  return lastWords(settings, state, { type: 'last-words', phrase, reason, transferTo });
}

/** Last words that cannot be heard: does at once what follows them. */
export function lastWordsBroke(state: TurnState): Step {
  const { farewell } = state;
  return farewell.stage === 'last-words' ? leave(state, farewell) : quietly(state);
}

/** The call reached its longest duration. */
export function timeIsOver(settings: TurnSettings, state: TurnState): Step {
  if (state.farewell.stage !== 'none') return quietly(state);
  return lastWords(settings, state, { type: 'last-words', phrase: 'goodbye', reason: 'max-duration', transferTo: undefined });
}

/** All last words were played. */
export function goodbyeHeard(_settings: TurnSettings, state: TurnState): Step {
  const { farewell } = state;
  if (farewell.stage !== 'after-reply' && farewell.stage !== 'last-words') return quietly(state);
  return quietly({ ...state, farewell: { ...farewell, heard: true } });
}

/** What followed the reply, such as its keys, is done: hangs up soon. */
export function heardOut({ farewell: settings }: TurnSettings, state: TurnState, { atMs }: EventOf<'heard-out'>): Step {
  const { farewell } = state;
  if (farewell.stage !== 'after-reply' && farewell.stage !== 'last-words') return quietly(state);
  if (!farewell.heard || farewell.patientUntilMs !== undefined) return quietly(state);
  return {
    state: { ...state, farewell: { ...farewell, patientUntilMs: atMs + settings.patienceMs } },
    effects: [{ type: 'start-timer', timer: 'hang-up-due', afterMs: settings.hangupAfterMarkMs }],
  };
}

/** A caller who has begun to answer the goodbye is heard first: it is answered, or was not speech. */
export function hangUpDue({ farewell: settings }: TurnSettings, state: TurnState, { atMs }: EventOf<'hang-up-due'>): Step {
  const { farewell } = state;
  if (farewell.stage !== 'after-reply' && farewell.stage !== 'last-words') return quietly(state);
  if (farewell.patientUntilMs === undefined) return quietly(state);
  const mayLeave = farewell.stage === 'last-words' || !callerMustBeHeard(state) || atMs >= farewell.patientUntilMs;
  if (mayLeave) return leave(state, farewell);
  return { state, effects: [{ type: 'start-timer', timer: 'hang-up-due', afterMs: settings.hangupAfterMarkMs }] };
}

function leave(
  state: TurnState,
  { stage, reason, transferTo }: Farewell & { readonly stage: 'after-reply' | 'last-words' },
): Step {
  if (transferTo === undefined) return { state, effects: [{ type: 'hang-up', reason }] };
  const farewell = { stage: 'transferring', asksDialog: stage === 'after-reply' } as const;
  return { state: { ...state, farewell }, effects: [{ type: 'transfer', to: transferTo }] };
}

/** A supervisor's transfer starts, or the carrier refused it. */
export function connecting(_settings: TurnSettings, state: TurnState, { on }: EventOf<'connecting'>): Step {
  // A person who wants no more calls is not transferred.
  if (state.optOut.heard) return quietly(state);
  if (on) return quietly({ ...state, farewell: { stage: 'connecting' } });
  return quietly(state.farewell.stage === 'connecting' ? { ...state, farewell: { stage: 'none' } } : state);
}

/** The socket was lost; another may come, as after a redirect or a broken connection. */
export function lineLost(_settings: TurnSettings, state: TurnState, event: TurnEvent & { readonly type: 'line-lost' }): Step {
  const { reason, graceMs, awayMs } = event;
  const ours = reasonToEnd(state);
  if (ours !== undefined && awayMs === 0) return { state, effects: [{ type: 'end-call', reason: ours, atCarrier: false }] };
  const lost = { reason: ours ?? reason, atCarrier: reason === 'carrier-lost' };
  return waitForLine(state, lost, Math.max(graceMs, awayMs));
}

/** The carrier took the caller over: only its stop is to come, and we end nothing there. */
export function callerTransferred(
  _settings: TurnSettings,
  state: TurnState,
  { graceMs }: TurnEvent & { readonly type: 'transferred' },
): Step {
  return waitForLine(state, { reason: 'transferred', atCarrier: false }, graceMs);
}

function waitForLine(state: TurnState, lost: NonNullable<Line['lost']>, afterMs: number): Step {
  return {
    state: { ...state, line: { ...state.line, lost } },
    effects: [{ type: 'start-timer', timer: 'line-wait-over', afterMs }],
  };
}

export function lineBack(_settings: TurnSettings, state: TurnState): Step {
  return quietly(state.line.lost === undefined ? state : { ...state, line: { ...state.line, lost: undefined } });
}

export function lineWaitOver(_settings: TurnSettings, state: TurnState): Step {
  const { lost } = state.line;
  return lost === undefined ? quietly(state) : { state, effects: [{ type: 'end-call', ...lost }] };
}
