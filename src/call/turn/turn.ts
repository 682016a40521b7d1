import { dialledAnswered, machineAnswered, messageDue, personAnswered, playedToMachine } from './answering.ts';
import { ask, expect, questionIsOpen, withSecrecy } from './asking.ts';
import { botFinished, botSounds, botSpeaks, muteMayBeOver, muted, replyPlayed, replyStarts, sentenceStarts } from './bot.ts';
import { modelAnswered, turnFoundOver, turnMayBeComplete, turnMayEnd } from './endpointing.ts';
import {
  apologise,
  callerTransferred,
  connecting,
  goodbyeHeard,
  hangUpDue,
  heardOut,
  lastWords,
  leaveAfterReply,
  lineBack,
  lineLost,
  lineWaitOver,
  timeIsOver,
} from './farewell.ts';
import { keyOverBot, voiceOverBot, whileBotSpeaks, wordsOverBot } from './interruption.ts';
import { keyPressed, keysMayBeComplete, nextKey } from './keying.ts';
import { callerBegins, callerGoesOn, callerSpeaksOn, dialogDue, noInputDue, waitAnew } from './listening.ts';
import { isStep, listenForOptOut } from './opt-out.ts';
import { agentAccepted, consultCancelled, consultOver, transferFailed } from './transfer.ts';
import { type BotTurnTaking, type TurnSettings, turnSettingsOf } from './turn-settings.ts';
import {
  isLeaving,
  type In,
  type PhaseName,
  type Step,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
  initialTurn,
  quietly,
} from './turn-state.ts';
import type { ValueReader } from './value-reader.ts';
import { dated, isLate, withDecision, withFrame } from './voice.ts';
import { answerOptional, askedAgain, keyWhileThinking, voiceWhileThinking, whileThinking } from './waiting.ts';
import {
  finalNoted,
  finalThen,
  finalWhileSettling,
  finalWhileThinking,
  partialNoted,
  partialThen,
  wordsTakeFloor,
} from './words.ts';

type EventOf<Type extends TurnEvent['type']> = TurnEvent & { readonly type: Type };

type Rule<Name extends PhaseName, Type extends TurnEvent['type']> = (
  settings: TurnSettings,
  state: In<Name>,
  event: EventOf<Type>,
) => Step;

type Row<Name extends PhaseName> = { readonly [Type in TurnEvent['type']]?: Rule<Name, Type> };

/**
 * What each event means in each phase; an event without a rule means nothing there. Before a person has answered a call that we placed,
 * the phase makes no difference: what is heard is only noted. While the bot says its last words, or what
 * follows them is being done, the phase makes no difference: nothing that the caller does counts.
 */
export type TurnRules = { readonly [Name in PhaseName]: Row<Name> } & {
  readonly answering: Row<PhaseName>;
  readonly leaving: Row<PhaseName>;
};

const whileLeaving = {
  'last-words': lastWords,
  apologise,
  'reply-played': goodbyeHeard,
  'heard-out': heardOut,
  'hang-up-due': hangUpDue,
  'line-lost': lineLost,
  'line-wait-over': lineWaitOver,
  transferred: callerTransferred,
  reattached: lineBack,
  'bot-sound': botSounds,
  'transfer-over': transferFailed,
  connecting,
};

const inEveryPhase = {
  ...whileLeaving,
  'leave-after-reply': leaveAfterReply,
  'time-over': timeIsOver,
  'call-started': (_settings: TurnSettings, state: TurnState, { atMs }: EventOf<'call-started'>) =>
    ask(state, { kind: 'start' }, atMs, false),
  'dialled-answered': dialledAnswered,
  'machine-answered': machineAnswered,
  expect,
  muted,
  'consult-cancelled': consultCancelled,
  'agent-accepted': agentAccepted,
  'bot-started': questionIsOpen,
  'sentence-started': questionIsOpen,
};

export const TURN_RULES: TurnRules = {
  listening: {
    ...inEveryPhase,
    frame: callerBegins,
    tick: (settings, state, { atMs }) => noInputDue(settings, state, atMs),
    partial: partialThen(wordsTakeFloor),
    final: finalThen(wordsTakeFloor),
    digit: keyPressed,
    'bot-started': botSpeaks,
    'transfer-over': consultOver,
    'dialog-due': dialogDue,
    reattached: waitAnew,
  },
  'caller-speaking': {
    ...inEveryPhase,
    frame: callerSpeaksOn,
    tick: (settings, state, { atMs }) => turnMayEnd(settings, state, atMs),
    partial: partialNoted,
    final: finalNoted,
    'model-answered': modelAnswered,
    'turn-over': turnFoundOver,
    digit: keyPressed,
  },
  settling: {
    ...inEveryPhase,
    frame: callerGoesOn,
    tick: (settings, state, { atMs }) => turnMayBeComplete(settings, state, atMs),
    partial: partialNoted,
    final: finalWhileSettling,
    digit: keyPressed,
  },
  keying: {
    ...inEveryPhase,
    frame: (settings, state, { frame }) => keysMayBeComplete(settings, state, frame.atMs),
    tick: (settings, state, { atMs }) => keysMayBeComplete(settings, state, atMs),
    partial: partialNoted,
    final: finalNoted,
    digit: nextKey,
  },
  thinking: {
    ...inEveryPhase,
    frame: (settings, state, { frame }) => voiceWhileThinking(settings, state, frame),
    tick: (settings, state, { atMs }) => whileThinking(settings, state, atMs),
    partial: partialNoted,
    final: finalWhileThinking,
    digit: keyWhileThinking,
    'answer-optional': answerOptional,
    'asked-again': askedAgain,
    'bot-started': replyStarts,
    'sentence-started': replyStarts,
    'reply-played': replyPlayed,
    'bot-finished': botFinished,
  },
  'bot-speaking': {
    ...inEveryPhase,
    frame: (settings, state, { frame }) => voiceOverBot(settings, state, frame),
    tick: (settings, state, { atMs }) => whileBotSpeaks(settings, state, atMs),
    partial: partialThen(wordsOverBot),
    final: finalThen(wordsOverBot),
    digit: keyOverBot,
    'asked-again': askedAgain,
    'sentence-started': sentenceStarts,
    'reply-played': replyPlayed,
    'bot-finished': botFinished,
  },
  answering: {
    ...inEveryPhase,
    frame: (_settings, state) => quietly(state),
    partial: partialNoted,
    final: finalNoted,
    'bot-started': botSpeaks,
    'sentence-started': botSpeaks,
    'reply-played': playedToMachine,
    'person-answered': personAnswered,
    'message-due': messageDue,
  },
  leaving: whileLeaving,
};

type AnyRule = (settings: TurnSettings, state: TurnState, event: TurnEvent) => Step;

/**
 * The turn machine: who has the floor, and what follows from an event. Pure: times come with the events, and all actions are returned as effects, in
 * order.
 */
export function stepTurn(settings: TurnSettings, before: TurnState, came: TurnEvent): Step {
  const found = listenForOptOut(settings, before, came);
  if (found === undefined) return stepInPhase(settings, before, came);
  return isStep(found) ? withDecision(found, came) : stepInPhase(settings, found, came);
}

function stepInPhase(settings: TurnSettings, before: TurnState, came: TurnEvent): Step {
  if (isLeaving(before)) return follow('leaving', settings, before, came);
  const event = dated(before.line, came);
  if (event.type === 'frame') {
    const state = withFrame(settings, before, event.frame, came.type === 'frame' ? came.frame : event.frame);
    return follow(rowOf(state), settings, state, event);
  }
  if (event.type !== 'tick') return follow(rowOf(before), settings, before, event);
  const isIdle = isLate(settings.line, before.line, event.atMs);
  return muteMayBeOver(isIdle ? quietly(before) : follow(rowOf(before), settings, before, event), event.atMs);
}

function rowOf({ answering, phase }: TurnState): keyof TurnRules {
  return answering ? 'answering' : phase.name;
}

/** Applies the rule of the table, if there is one. */
function follow(row: keyof TurnRules, settings: TurnSettings, state: TurnState, event: TurnEvent): Step {
  // Each rule is given the state and the event that it stands for in the table.
  const rule = TURN_RULES[row][event.type] as AnyRule | undefined;
  if (rule === undefined) return quietly(state);
  const step = rule(settings, state, event);
  // Most frames and ticks change nothing that these two look at.
  if (step.effects.length === 0 && step.state.dialog === state.dialog) return step;
  return withSecrecy(settings, state, withDecision(step, event), event);
}

/** The rules of turn-taking, as a call uses them; replaceable, to see what other rules would change. */
export interface TurnMachine {
  settingsOf(bot: BotTurnTaking): TurnSettings;
  step(settings: TurnSettings, state: TurnState, event: TurnEvent): Step;
}

/** @param reader understands the values that the calls' dialogs ask for */
export function turnMachine(reader: ValueReader): TurnMachine {
  return { settingsOf: (bot) => turnSettingsOf(bot, reader), step: stepTurn };
}

/** Runs the turn machine: has its effects carried out in order, and lets events that they give rise to wait their turn. */
export class TurnLoop {
  readonly settings: TurnSettings;
  readonly #machine: TurnMachine;
  readonly #carryOut: (effect: TurnEffect) => void;
  #state: TurnState;
  readonly #pending: TurnEvent[] = [];
  #stepping = false;
  #stopped = false;

  constructor(
    machine: TurnMachine,
    settings: TurnSettings,
    carryOut: (effect: TurnEffect) => void,
    initial: TurnState = initialTurn(),
  ) {
    this.#state = initial;
    this.#machine = machine;
    this.settings = settings;
    this.#carryOut = carryOut;
  }

  get state(): TurnState {
    return this.#state;
  }

  feed(event: TurnEvent): void {
    if (this.#stepping) {
      this.#pending.push(event);
      return;
    }
    this.#stepping = true;
    try {
      for (let next: TurnEvent | undefined = event; next !== undefined && !this.#stopped; next = this.#pending.shift()) {
        const { state, effects } = this.#machine.step(this.settings, this.#state, next);
        this.#state = state;
        for (const effect of effects) this.#carryOut(effect);
      }
    } finally {
      this.#stepping = false;
    }
  }

  /** The call is over: nothing is fed any more. */
  stop(): void {
    this.#stopped = true;
  }
}
