import { type Call, type CallEvent, drawnAt, type Span } from './call-model.ts';

/** Groups of events that people look for together. */
export const EVENT_GROUPS = ['floor', 'caller', 'dialog', 'voice', 'keys', 'transfer', 'line', 'problems'] as const;
export type EventGroup = (typeof EVENT_GROUPS)[number];

const GROUP_OF: Readonly<Record<string, EventGroup>> = {
  attached: 'line',
  detached: 'line',
  witness: 'line',
  'answered-by': 'line',
  'caller-committed': 'caller',
  final: 'caller',
  recogniser: 'caller',
  'opted-out': 'caller',
  'asked-early': 'dialog',
  'early-answer': 'dialog',
  'dialog-asked': 'dialog',
  'dialog-answered': 'dialog',
  'tts-asked': 'voice',
  'tts-first-byte': 'voice',
  'first-frame': 'voice',
  'bot-finished': 'voice',
  filler: 'voice',
  speech: 'voice',
  hold: 'floor',
  resume: 'floor',
  restore: 'floor',
  clear: 'floor',
  ordered: 'transfer',
  transfer: 'transfer',
  digit: 'keys',
  'digits-sent': 'keys',
  problem: 'problems',
};

/** Events of kinds that this page does not know yet are shown with those of the dialog. */
export function groupOf({ type }: Pick<CallEvent, 'type'>): EventGroup {
  return GROUP_OF[type] ?? 'dialog';
}

/** An order of an operator, where it stands on the drawing. */
export interface Order {
  readonly atMs: number;
  readonly order: string;
  readonly by: string;
}

/** What operators ordered, in the order of the record. */
export function ordersOf(call: Call): Order[] {
  return call.timeline.flatMap(({ type, atMs, order, by }) =>
    type === 'ordered' && typeof order === 'string' && typeof by === 'string' ? [{ atMs: drawnAt(call, atMs), order, by }] : [],
  );
}

/** What else an event says, as `name: value`. @param orderText an operator's order in words */
export function detailsOf(event: CallEvent, orderText: (order: string, by: string) => string): string {
  const { atMs: _at, type, turn: _turn, detail, lastVoicedMs: _voiced, onsetMs, unitId: _unit, ...others } = event;
  const { order, by, ...rest } = others;
  if (type === 'ordered' && typeof order === 'string' && typeof by === 'string')
    return [orderText(order, by), ...namedTexts(rest)].join(' · ');
  const onset = typeof onsetMs === 'number' && onsetMs <= event.atMs ? [`${Math.round(event.atMs - onsetMs)} ms`] : [];
  return [...(typeof detail === 'string' ? [detail] : []), ...onset, ...namedTexts(others)].join(' · ');
}

function namedTexts(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );
}

/** A sign on the drawing at one moment. */
export interface Sign {
  readonly kind: 'clear' | 'restore' | 'resume' | 'key' | 'played' | 'transfer' | 'filler' | 'ordered' | 'problem';
  readonly atMs: number;
  readonly event: CallEvent;
}

const SIGN_OF: Readonly<Record<string, Sign['kind']>> = {
  clear: 'clear',
  restore: 'restore',
  resume: 'resume',
  digit: 'key',
  'digits-sent': 'key',
  'bot-finished': 'played',
  transfer: 'transfer',
  filler: 'filler',
  ordered: 'ordered',
  problem: 'problem',
};

/** Clears, restores, resumes, keys, marks that came back, transfers, fillers, orders and problems, where they happened. */
export function signsOf(call: Call): Sign[] {
  return call.timeline.flatMap((event) => {
    const kind = SIGN_OF[event.type];
    return kind === undefined ? [] : [{ kind, atMs: drawnAt(call, event.atMs), event }];
  });
}

/** How each hold ended decides what it was. */
export interface Hold extends Span {
  readonly ended: 'resume' | 'clear' | 'restore' | undefined;
}

/** From each hold to what ended it. @param endMs of the drawing */
export function holdsOf(call: Call, endMs: number): Hold[] {
  return call.timeline.flatMap((event, index) => {
    if (event.type !== 'hold') return [];
    const end = call.timeline
      .slice(index + 1)
      .find(({ type }) => type === 'resume' || type === 'clear' || type === 'restore' || type === 'hold');
    const ended = end?.type === 'resume' || end?.type === 'clear' || end?.type === 'restore' ? end.type : undefined;
    return [{ fromMs: drawnAt(call, event.atMs), toMs: end === undefined ? endMs : drawnAt(call, end.atMs), ended }];
  });
}
