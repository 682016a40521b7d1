/*
 * Media sessions that went wrong, made of one that went right: messages that are missing, doubled, out of order, cut, huge, of the wrong
 * kind, with wrong types, wrong base64, another codec or other ids. The same seed gives the same sessions.
 */

export type WireMessage = string | Uint8Array;
type Random = () => number;

const HUGE = 70_000;
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'x'.repeat(5_000),
  [],
  [[[[]]]],
  {},
  { toString: 1 },
  '\u0000',
  '🤖',
];
const ODD_TEXTS = [
  '',
  '{',
  '[]',
  'null',
  '"event"',
  '{"event":"start"}',
  '{"event":{}}',
  '[[[[[[',
  'NaN',
  '{"__proto__":{"x":1}}',
];

/** How one message is broken; undefined leaves it out. */
const BREAKS: readonly ((message: WireMessage, random: Random) => readonly WireMessage[])[] = [
  () => [],
  (message) => [message, message],
  (message) => Array.from({ length: 20 }, () => message),
  (message, random) => [cut(message, random)],
  (message, random) => [flipped(message, random)],
  (message) => [typeof message === 'string' ? Buffer.from(message) : Buffer.from(message).toString('latin1')],
  (message, random) => [random() < 0.1 ? huge(message) : message],
  (_, random) => [pick(ODD_TEXTS, random)],
  (_, random) => [Buffer.from(Array.from({ length: Math.floor(random() * 400) }, () => Math.floor(random() * 256)))],
  () => [Buffer.alloc(0)],
  (message, random) => [rewritten(message, random, (value) => (random() < 0.3 ? pick(ODD_VALUES, random) : value))],
  (message, random) => [rewritten(message, random, (value) => (typeof value === 'string' ? `${value}!$%` : value))],
  (message, random) => [rewritten(message, random, (value) => (typeof value === 'number' ? String(value) : Number(value)))],
  (message, random) => [rewritten(message, random, (value) => (typeof value === 'string' ? value.toUpperCase() : value))],
  (message, random) => [
    rewritten(message, random, (value) =>
      typeof value === 'string' && value.length > 12 ? Array.from(value).toReversed().join('') : value,
    ),
  ],
  (message) => [
    typeof message === 'string'
      ? message.replaceAll(/mulaw|ulaw|pcmu|l16|pcm|slin/giu, 'opus').replaceAll(/8000|16000/gu, '44100')
      : message,
  ],
];

/** What is sent in place of each message of a session, one after another. @param share of the messages that are broken */
export function breaker(random: Random, share = 0.3): (message: WireMessage) => readonly WireMessage[] {
  let held: WireMessage | undefined;
  return (message) => {
    const before = held;
    held = undefined;
    if (random() >= share) return before === undefined ? [message] : [message, before];
    // Out of order: it comes behind the next one.
    if (random() < 0.1) {
      held = message;
      return before === undefined ? [] : [before];
    }
    const broken = pick(BREAKS, random)(message, random);
    return before === undefined ? broken : [...broken, before];
  };
}

/** A whole recorded session, broken. */
export function brokenSession(session: readonly WireMessage[], random: Random): readonly WireMessage[] {
  const alter = breaker(random, 0.1 + random() * 0.6);
  const broken = session.flatMap((message) => [...alter(message)]);
  return random() < 0.2 ? broken.toReversed() : broken;
}

function pick<Value>(from: readonly Value[], random: Random): Value {
  return from[Math.floor(random() * from.length)] as Value;
}

/** More than a media socket takes, which ends it. */
function huge(message: WireMessage): WireMessage {
  return typeof message === 'string' ? `${message}${' '.repeat(HUGE)}` : Buffer.concat([message, Buffer.alloc(HUGE)]);
}

function cut(message: WireMessage, random: Random): WireMessage {
  const at = Math.floor(random() * message.length);
  return typeof message === 'string' ? message.slice(0, at) : message.slice(0, at);
}

function flipped(message: WireMessage, random: Random): WireMessage {
  const bytes = Buffer.from(message as string);
  for (let times = 0; times < 3 && bytes.length > 0; times += 1) {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  return typeof message === 'string' ? bytes.toString('utf8') : bytes;
}

/** Any value within a message of JSON; other messages stay. */
function rewritten(message: WireMessage, random: Random, change: (value: unknown) => unknown): WireMessage {
  if (typeof message !== 'string') return message;
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return message.replaceAll(/[A-Za-z0-9]+/gu, (word) => (random() < 0.3 ? (JSON.stringify(change(word)) ?? '') : word));
  }
  const walk = (at: unknown): unknown => {
    if (Array.isArray(at)) return at.map(walk);
    if (typeof at !== 'object' || at === null) return change(at);
    const entries = Object.entries(at).flatMap(([key, inside]): [string, unknown][] => {
      const roll = random();
      if (roll < 0.08) return [];
      if (roll < 0.14) return [[key, pick(ODD_VALUES, random)]];
      return [[roll < 0.18 ? `${key}X` : key, walk(inside)]];
    });
    return Object.fromEntries(entries);
  };
  return JSON.stringify(walk(value)) ?? 'null';
}
