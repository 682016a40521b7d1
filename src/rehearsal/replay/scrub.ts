import { soundName } from '../../dialog/port.ts';
import type { CallFixture, Entry, KeptRecognition } from './fixture.ts';

/** Digits in a row, however separated, that may be a telephone number. */
const LONG_NUMBER = /(?:\p{Nd}[\s().-]*){7,}/u;
/** Contracts of secret answers. */
const SECRET_CONTRACT = /"kind":"(?:card|otp)"/u;
/** Number of keys in a row that may be a secret. */
const SECRET_KEYS = 4;
/** Gap after which keys belong to another number. */
const KEYS_APART_MS = 5_000;
/** A number of nines is a valid telephone number in most plans, and a plausible password. */
const ANY_DIGIT = /\p{Nd}/gu;
const QUOTED = /"(?:[^"\\]|\\.)*"/gu;
/** Replaces transfer targets. */
const SOMEBODY = '+15550100000';

/**
 * Removes from a fixture what decisions do not need: transfer targets, remembered facts about the caller, and, where a long number occurs, all digits
 * (a number may come in pieces anywhere, and the pieces must stay consistent). Names and voices stay.
 */
export function scrub(fixture: CallFixture): CallFixture {
  const mask = holdsNumber(fixture);
  const hide = (text: string): string => (mask ? withoutDigits(text) : text);
  return {
    ...fixture,
    digitsMasked: mask,
    ...(fixture.placed && {
      placed: { ...fixture.placed, callbackNumber: fixture.placed.callbackNumber && hide(fixture.placed.callbackNumber) },
    }),
    log: fixture.log.map((entry) => scrubEntry(entry, hide)),
    answers: fixture.answers.map((answer) => ({ ...answer, input: hideQuoted(answer.input, hide) })),
    speeches: fixture.speeches.map((speech) => ({ ...speech, text: hide(speech.text) })),
    recognitions: fixture.recognitions.map((session) => ({ ...session, boostPhrases: session.boostPhrases.map(hide) })),
    decisions: fixture.decisions.map((decision) => ({
      ...decision,
      detail: decision.type === 'end' ? hideLong(decision.detail) : hideQuoted(decision.detail, hide),
    })),
  };
}

function holdsNumber({ answers, speeches, decisions, log }: CallFixture): boolean {
  const texts = [
    ...answers.map(({ input }) => input),
    ...speeches.map(({ text }) => text),
    ...decisions.map(({ detail }) => detail),
  ];
  for (const entry of log) if (entry.k === 'words' && 'text' in entry.event) texts.push(entry.event.text);
  // Ordered words may never have been spoken.
  for (const entry of log) if (entry.k === 'ordered' && 'text' in entry.order) texts.push(entry.order.text);
  const asksForSecret = log.some((entry) => entry.k === 'action' && SECRET_CONTRACT.test(JSON.stringify(entry.action)));
  return asksForSecret || texts.some((text) => LONG_NUMBER.test(text)) || mostKeysInARow(log) >= SECRET_KEYS;
}

function mostKeysInARow(log: readonly Entry[]): number {
  let most = 0;
  let run = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const entry of log) {
    if (entry.k !== 'digit') continue;
    run = entry.t - lastMs > KEYS_APART_MS ? 1 : run + 1;
    lastMs = entry.t;
    most = Math.max(most, run);
  }
  return most;
}

function scrubEntry(entry: Entry, hide: (text: string) => string): Entry {
  switch (entry.k) {
    case 'digit':
      return { ...entry, digit: hide(entry.digit) };
    case 'words':
      return { ...entry, event: hideWords(entry.event, hide) };
    case 'hints':
      return { ...entry, phrases: entry.phrases?.map(hide) ?? null };
    case 'action':
      return { ...entry, action: scrubAction(entry.action, hide) };
    case 'stopped':
    case 'closed':
    case 'told':
      return { ...entry, reason: hideLong(entry.reason) };
    case 'ordered':
      return { ...entry, order: scrubOrder(entry.order, hide) };
    case 'attached':
    case 'recogniser':
    case 'end-of-turn':
    case 'audio':
    case 'mark':
    case 'witness':
    case 'tick':
    case 'timer':
    case 'answered':
    case 'sound':
    case 'spoken':
    case 'acted':
      return entry;
  }
}

function hideWords(event: KeptRecognition, hide: (text: string) => string): KeptRecognition {
  if ('reason' in event) return { ...event, reason: hideLong(event.reason) };
  return 'text' in event ? { ...event, text: hide(event.text) } : event;
}

/** @param action of a dialog, as recorded */
function scrubAction(action: Extract<Entry, { k: 'action' }>['action'], hide: (text: string) => string): typeof action {
  switch (action.type) {
    case 'say':
      return { ...action, text: hide(String(action['text'])) };
    case 'play': {
      const { text, source } = action;
      const words = typeof text === 'string' ? { text: hide(text) } : {};
      return { ...action, ...words, source: hide(soundName(String(source))) };
    }
    case 'gather': {
      const { hints } = action;
      return Array.isArray(hints) ? { ...action, hints: hints.map((hint) => hide(String(hint))) } : action;
    }
    case 'set':
      return { ...action, variables: {} };
    case 'note':
      return { ...action, text: 'a note' };
    case 'transfer':
      return { ...action, to: SOMEBODY };
    case 'digits':
      return { ...action, digits: withoutDigits(String(action['digits'])) };
    case 'hangup':
      return { ...action, reason: hideLong(String(action['reason'])) };
    default:
      return action;
  }
}

function scrubOrder(order: Extract<Entry, { k: 'ordered' }>['order'], hide: (text: string) => string): typeof order {
  if (order.type === 'say') return { ...order, text: hide(order.text) };
  return order.type === 'transfer' ? { ...order, to: SOMEBODY } : order;
}

/** A fixture's text with masked digits. */
export function withoutDigits(text: string): string {
  return text.replaceAll(ANY_DIGIT, '9');
}

/** Only spoken words are quoted in a decision. */
function hideQuoted(text: string, hide: (text: string) => string): string {
  return text.replaceAll(QUOTED, hide);
}

/** A reason may contain an address or a token. */
function hideLong(reason: string): string {
  return reason.replaceAll(/\S{24,}/gu, '…');
}
