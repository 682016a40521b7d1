import type { AnsweredBy } from '../../config/answered-by.ts';
import type { BotAnswering } from '../../config/bot-answering.ts';
import type { AnswerState } from './classifier.ts';
import { endMs, lengthMs, quietMs, toneMs } from './hearing.ts';

interface GreetingTimes {
  /** Latest greeting, after the other side's first sound, where the kind of answer is still unknown. */
  readonly decideWithinMs: number;
  /** Silence after the last ring until the bot speaks first. */
  readonly speakFirstMs: number;
}

/** Quiet required before the greeting while the kind of answer is unknown, so that it talks over no person. */
const UNSURE_QUIET_MS = 520;
/** Longest wait in a room that never falls silent. */
const MOST_WAIT_MS = 8_000;

/** Whether the bot should greet now. */
export function greetingIsDue(state: AnswerState, { decideWithinMs, speakFirstMs }: GreetingTimes): boolean {
  const { opinion, hearing } = state;
  const { atMs } = hearing;
  if (opinion?.by === 'silence') return atMs - hearing.ringingUntilMs >= speakFirstMs;
  const quiet = quietMs(hearing) ?? 0;
  if (opinion?.by === 'person') return quiet >= (hearing.run === undefined ? 0 : endMs(lengthMs(hearing.run)));
  if (opinion !== undefined) return false;
  const sinceMs = hearing.firstRunMs;
  if (sinceMs === undefined) return false;
  if (atMs - sinceMs >= MOST_WAIT_MS) return true;
  return atMs - sinceMs >= decideWithinMs && quiet >= UNSURE_QUIET_MS;
}

/** What the bot does about the kind of answer. Times count from the answer. */
export type AnswerPlan =
  | { readonly stage: 'finding-out'; readonly sinceMs: number }
  /** A person was greeted, or an unknown party. */
  | { readonly stage: 'greeted'; readonly sinceMs: number }
  | { readonly stage: 'mailbox'; readonly sinceMs: number; readonly beeps: number }
  | { readonly stage: 'leaving-message'; readonly sinceMs: number }
  | { readonly stage: 'screening'; readonly sinceMs: number; readonly introductions: number; readonly introducedMs: number }
  | { readonly stage: 'menu'; readonly sinceMs: number; readonly pressed: number; readonly pressedMs: number }
  | { readonly stage: 'hold'; readonly sinceMs: number }
  /** A machine that is hung up on once that is certain. */
  | { readonly stage: 'giving-up'; readonly sinceMs: number; readonly reason: AnsweredBy };

export type AnswerAct =
  | { readonly type: 'greet' }
  /** A machine: what it says opens no turn. */
  | { readonly type: 'to-machine' }
  | { readonly type: 'leave-message' }
  | { readonly type: 'introduce' }
  | { readonly type: 'press'; readonly keys: string }
  | { readonly type: 'hang-up'; readonly reason: AnsweredBy };

export interface PlanStep {
  readonly plan: AnswerPlan;
  readonly acts: readonly AnswerAct[];
}

export const FIRST_PLAN: AnswerPlan = { stage: 'finding-out', sinceMs: 0 };

/** Confidence, or time of an unchanged opinion, after which a machine is hung up on: a mistake here hangs up on a person. */
const SURE_SHARE = 0.95;
const SURE_AFTER_MS = 2_000;
/** Time after the beep at which the mailbox records. */
const AFTER_BEEP_MS = 240;
/** Longest wait for a mailbox that neither falls silent nor beeps. */
const MOST_GREETING_MS = 60_000;
/** Longest wait for the message to be spoken. */
const MOST_MESSAGE_MS = 120_000;
/** Silence after which a machine has finished its sentence. */
const ITS_TURN_MS = 700;
const MENU_PAUSE_MS = 400;
/** Longest wait for a menu to pause; some loop for ever. */
const MOST_MENU_MS = 8_000;
/** An assistant may ask again, up to this often. */
const MOST_INTRODUCTIONS = 2;
/** How long the other side is still checked for being a machine after the greeting. */
export const LISTENED_MS = 30_000;

/**
 * The next plan, given what is known of the answer. Pure.
 * @param botSpeaks whether the bot is being heard now
 */
export function stepPlan(settings: BotAnswering, plan: AnswerPlan, answer: AnswerState, botSpeaks: boolean): PlanStep {
  const by = answer.opinion?.by;
  const { atMs } = answer.hearing;
  switch (plan.stage) {
    case 'finding-out':
      if (by !== undefined && isMachine(by)) return meet(settings, answer, by, false);
      return greetingIsDue(answer, settings) ? greeted(atMs) : stay(plan);
    case 'greeted':
      if (atMs >= LISTENED_MS || by === undefined || !isMachine(by)) return stay(plan);
      return meet(settings, answer, by, true);
    case 'mailbox':
      return atMailbox(settings, plan, answer);
    case 'leaving-message':
      if (speaksUp(settings, answer)) return greeted(atMs);
      return atMs - plan.sinceMs >= MOST_MESSAGE_MS ? hangUp(plan, 'mailbox') : stay(plan);
    case 'screening':
      return atScreening(settings, plan, answer, botSpeaks);
    case 'menu':
      return atMenu(settings, plan, answer);
    case 'hold':
      if (speaksUp(settings, answer)) return greeted(atMs);
      if (by !== undefined && by !== 'hold' && isMachine(by)) return meet(settings, answer, by, true);
      return settings.hold === 'hang-up' || atMs - plan.sinceMs >= settings.hold.waitMs ? hangUp(plan, 'hold') : stay(plan);
    case 'giving-up': {
      if (speaksUp(settings, answer)) return greeted(atMs);
      if (by !== undefined && by !== plan.reason && isMachine(by)) return meet(settings, answer, by, true);
      const isSure = answer.shares[plan.reason] >= SURE_SHARE || atMs - plan.sinceMs >= SURE_AFTER_MS;
      return isSure ? hangUp(plan, plan.reason) : stay(plan);
    }
  }
}

export function isMachine(by: AnsweredBy): boolean {
  return by !== 'person' && by !== 'silence';
}

function stay(plan: AnswerPlan): PlanStep {
  return { plan, acts: [] };
}

function greeted(atMs: number): PlanStep {
  return { plan: { stage: 'greeted', sinceMs: atMs }, acts: [{ type: 'greet' }] };
}

function hangUp(plan: AnswerPlan, reason: AnsweredBy): PlanStep {
  return { plan, acts: [{ type: 'hang-up', reason }] };
}

/** A person speaks after a machine did. */
function speaksUp(settings: BotAnswering, answer: AnswerState): boolean {
  return answer.opinion?.by === 'person' && greetingIsDue(answer, settings);
}

/** The bot's behaviour towards a machine. */
function meet(settings: BotAnswering, { hearing }: AnswerState, by: AnsweredBy, silences: boolean): PlanStep {
  const { atMs, signals, run } = hearing;
  // The beep that ended the greeting may also be what identified the mailbox.
  const isRecording = signals.lastBeepMs !== undefined && (run === undefined || signals.lastBeepMs > run.lastMs);
  const acts: readonly AnswerAct[] = silences ? [{ type: 'to-machine' }] : [];
  const plan = planFor(settings, by, atMs, signals.beeps - (isRecording ? 1 : 0));
  return { plan, acts };
}

function planFor(settings: BotAnswering, by: AnsweredBy, sinceMs: number, beeps: number): AnswerPlan {
  if (by === 'mailbox' && settings.mailbox !== 'hang-up') return { stage: 'mailbox', sinceMs, beeps };
  if (by === 'screening' && settings.screening !== 'hang-up')
    return { stage: 'screening', sinceMs, introductions: 0, introducedMs: Number.NEGATIVE_INFINITY };
  if (by === 'ivr' && settings.ivr !== 'hang-up')
    return { stage: 'menu', sinceMs, pressed: 0, pressedMs: Number.NEGATIVE_INFINITY };
  if (by === 'hold' && settings.hold !== 'hang-up') return { stage: 'hold', sinceMs };
  return { stage: 'giving-up', sinceMs, reason: by };
}

function atMailbox(settings: BotAnswering, plan: AnswerPlan & { readonly stage: 'mailbox' }, answer: AnswerState): PlanStep {
  const { hearing, opinion } = answer;
  const { atMs, signals } = hearing;
  if (speaksUp(settings, answer)) return greeted(atMs);
  if (opinion !== undefined && opinion.by !== 'mailbox' && isMachine(opinion.by))
    return meet(settings, answer, opinion.by, false);
  const { lastBeepMs } = signals;
  const beeped = signals.beeps > plan.beeps && lastBeepMs !== undefined && atMs - lastBeepMs >= AFTER_BEEP_MS;
  const quietEnough =
    settings.mailbox !== 'hang-up' && (quietMs(hearing) ?? 0) >= settings.mailbox.quietMs && toneMs(hearing) === 0;
  if (beeped || (quietEnough && atMs - plan.sinceMs >= AFTER_BEEP_MS))
    return { plan: { stage: 'leaving-message', sinceMs: atMs }, acts: [{ type: 'leave-message' }] };
  return atMs - plan.sinceMs >= MOST_GREETING_MS ? hangUp(plan, 'mailbox') : stay(plan);
}

function atScreening(
  settings: BotAnswering,
  plan: AnswerPlan & { readonly stage: 'screening' },
  answer: AnswerState,
  botSpeaks: boolean,
): PlanStep {
  const { hearing, opinion, bot } = answer;
  const { atMs, run, signals } = hearing;
  if (speaksUp(settings, answer)) return greeted(atMs);
  if (opinion !== undefined && opinion.by !== 'screening' && isMachine(opinion.by))
    return meet(settings, answer, opinion.by, true);
  if (botSpeaks || settings.screening === 'hang-up') return stay(plan);
  const sinceMs = Math.max(plan.sinceMs, plan.introducedMs);
  const asked = run !== undefined && run.lastMs > plan.introducedMs && answer.cues.some(({ by }) => by === 'screening');
  const askedAgain = asked && (bot.untilMs === undefined || run.sinceMs > bot.untilMs);
  const beeped = signals.lastBeepMs !== undefined && signals.lastBeepMs > sinceMs;
  const isTurn = (quietMs(hearing) ?? 0) >= ITS_TURN_MS || beeped;
  const mayIntroduce = plan.introductions === 0 || (plan.introductions < MOST_INTRODUCTIONS && askedAgain);
  if (isTurn && mayIntroduce) {
    const next = { ...plan, introductions: plan.introductions + 1, introducedMs: atMs };
    return { plan: next, acts: [{ type: 'introduce' }] };
  }
  return atMs - sinceMs >= settings.screening.waitMs ? hangUp(plan, 'screening') : stay(plan);
}

function atMenu(settings: BotAnswering, plan: AnswerPlan & { readonly stage: 'menu' }, answer: AnswerState): PlanStep {
  const { hearing, opinion } = answer;
  const { atMs, run } = hearing;
  if (speaksUp(settings, answer)) return greeted(atMs);
  const isOther = opinion !== undefined && opinion.by !== 'ivr' && isMachine(opinion.by);
  if (isOther) return meet(settings, answer, opinion.by, true);
  if (settings.ivr === 'hang-up') return hangUp(plan, 'ivr');
  const keys = typeof settings.ivr.keys === 'string' ? [settings.ivr.keys] : settings.ivr.keys;
  const next = keys[plan.pressed];
  const sinceMs = Math.max(plan.sinceMs, plan.pressedMs);
  // Speech after the keys of one menu is the next menu.
  const isNewMenu = run !== undefined && run.lastMs > plan.pressedMs && answer.cues.some(({ by }) => by === 'ivr');
  const pauses = (quietMs(hearing) ?? 0) >= MENU_PAUSE_MS || atMs - sinceMs >= MOST_MENU_MS;
  if (next !== undefined && (plan.pressed === 0 || isNewMenu) && pauses) {
    const pressed = { ...plan, pressed: plan.pressed + 1, pressedMs: atMs };
    return { plan: pressed, acts: [{ type: 'press', keys: next }] };
  }
  return atMs - sinceMs >= settings.ivr.waitMs ? hangUp(plan, 'ivr') : stay(plan);
}
