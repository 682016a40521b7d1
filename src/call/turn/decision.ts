import type { TurnEffect } from './turn-state.ts';

const UPKEEP: ReadonlySet<TurnEffect['type']> = new Set([
  'ask-model',
  'unmuted',
  'silence-caller',
  'stalled',
  'say-last',
  'start-timer',
  'hang-up',
  'end-call',
  'transfer',
  'consult',
] as const);

/** Whether an effect decides floor or turn; the others only keep a leaving call going until it does. */
export function isDecision({ type }: TurnEffect): boolean {
  return !UPKEEP.has(type);
}
