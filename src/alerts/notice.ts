import type { AlertRule } from '../config/alerts.ts';
import type { AlertReading } from './rule-state.ts';

/** What is sent to a channel. It has names of the configuration and counts: nothing that callers said, and no numbers. */
export interface AlertNotice {
  readonly id: string;
  readonly state: 'firing' | 'resolved' | 'test';
  /** Undefined for a test. */
  readonly rule: string | undefined;
  readonly figure: string | undefined;
  readonly value: number | undefined;
  readonly threshold: number | undefined;
  readonly bot: string | undefined;
  readonly details: readonly string[];
  readonly atMs: number;
}

const MOST_DETAILS = 10;

export function noticeOf(
  state: 'firing' | 'resolved',
  rule: Pick<AlertRule, 'name' | 'figure' | 'above' | 'below' | 'bot'>,
  { value, details }: AlertReading,
  at: { readonly id: string; readonly atMs: number },
): AlertNotice {
  const { name, figure, above, below, bot } = rule;
  return { ...at, state, rule: name, figure, value, threshold: above ?? below, bot, details: details.slice(0, MOST_DETAILS) };
}

export function testNotice(at: { readonly id: string; readonly atMs: number }): AlertNotice {
  const nothing = { rule: undefined, figure: undefined, value: undefined, threshold: undefined, bot: undefined };
  return { ...at, ...nothing, state: 'test', details: [] };
}

/** One line for people, such as a mail's subject. */
export function noticeTitle({ state, rule = '' }: AlertNotice): string {
  if (state === 'test') return 'Offhook: a test of this alert channel';
  return state === 'firing' ? `Offhook alert: ${rule}` : `Offhook: ${rule} is over`;
}

/** The whole notice for people. */
export function noticeText(notice: AlertNotice): string {
  const { figure, value, threshold, bot, details, atMs } = notice;
  const of = bot === undefined ? '' : ` of the bot ${bot}`;
  const figures =
    figure === undefined ? [] : [`${figure}${of} is ${shownValue(value)}; the threshold is ${shownValue(threshold)}.`];
  return [noticeTitle(notice), ...figures, ...details.map((each) => `- ${each}`), new Date(atMs).toISOString()].join('\n');
}

function shownValue(value: number | undefined): string {
  return value === undefined ? 'unknown' : String(Math.round(value * 10_000) / 10_000);
}
