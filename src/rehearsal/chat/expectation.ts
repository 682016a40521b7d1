import type { ChatEvent } from './chat-event.ts';

/** How texts are compared. `contains` ignores case; runs of spaces count as one. */
export type Match =
  | { readonly how: 'contains'; readonly text: string }
  | { readonly how: 'exact'; readonly text: string }
  | { readonly how: 'regex'; readonly regex: RegExp };

/** Facts that `[name value]` can name, and the form of their values. */
export const FACTS = {
  end: 'the reason of the end',
  transfer: 'the number that the caller is transferred to',
  keys: 'the keys that the bot presses',
  play: 'the name of a sound',
  note: 'the text of a note',
  step: "a step of the bot's dialog that the conversation reaches",
  language: 'the language that the bot changes to',
  bot: 'the bot that the call goes on with',
  recording: 'on or off',
  'call-back': 'when the caller wants to be called',
  asks: 'the kind of value that the bot asks for',
  understood: 'the value that was read in the answer',
  fails: 'the error of a bot that has no answer',
} as const;
export type Fact = keyof typeof FACTS;

export type Expectation =
  | { readonly kind: 'says'; readonly match: Match | undefined; readonly negated: boolean }
  | { readonly kind: 'slot'; readonly name: string; readonly match: Match | undefined }
  | { readonly kind: 'fact'; readonly fact: Fact; readonly match: Match | undefined };

const REGEX = /^\/(.+)\/([a-z]*)$/u;

/**
 * Reads an expectation: `text`, `= text`, `! text` and `/regex/` of the bot's words; `[slot name = value]`, `[end finished]`, `[transfer
 * +15550100123]` and the other facts in brackets.
 * @returns why it is invalid, as a text, for an invalid one
 */
export function readExpectation(written: string): Expectation | string {
  const text = written.trim();
  if (text.startsWith('[') && text.endsWith(']')) return readFact(text.slice(1, -1).trim());
  return readSays(text);
}

/** Reads the expected words of the bot: the part after `<`. */
function readSays(written: string): Expectation | string {
  const text = written.trim();
  if (text === '') return { kind: 'says', match: undefined, negated: false };
  const negated = text.startsWith('!');
  const rest = negated ? text.slice(1).trim() : text;
  if (rest === '') return 'a text is expected behind "!"';
  const match = rest.startsWith('=') ? { how: 'exact' as const, text: spaced(rest.slice(1)) } : readMatch(rest, 'contains');
  return typeof match === 'string' ? match : { kind: 'says', match, negated };
}

function readFact(written: string): Expectation | string {
  const slot = /^slot\s+([A-Za-z][\w-]*)\s*=\s*(.*)$/u.exec(written);
  if (slot?.[1] !== undefined) {
    const match = readValue(slot[2] ?? '');
    return typeof match === 'string' ? match : { kind: 'slot', name: slot[1], match };
  }
  const [, name = '', value = ''] = /^(\S*)\s*(.*)$/u.exec(written) ?? [];
  if (name === 'slot') return 'a slot is expected as [slot name = value]; [slot name =] for an empty one';
  if (!isFact(name)) return `there is no [${name}]; there are slot, ${Object.keys(FACTS).join(', ')}`;
  const match = readValue(value);
  return typeof match === 'string' ? match : { kind: 'fact', fact: name, match };
}

function isFact(name: string): name is Fact {
  return Object.hasOwn(FACTS, name);
}

function readValue(written: string): Match | string | undefined {
  return written.trim() === '' ? undefined : readMatch(written.trim(), 'exact');
}

/** Reads a text to compare with: `/regex/flags`, else the text itself. @returns why a regular expression is invalid, as a text */
export function readMatch(text: string, how: 'contains' | 'exact'): Match | string {
  const [, source, flags] = REGEX.exec(text) ?? [];
  if (source === undefined) return { how, text: spaced(text) };
  try {
    return { how: 'regex', regex: new RegExp(source, `${flags ?? ''}${flags?.includes('u') === true ? '' : 'u'}`) };
  } catch (error) {
    return `${text} is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Whether a text matches; any text does without a match. */
export function fits(match: Match, given: string): boolean {
  const text = spaced(given);
  switch (match.how) {
    case 'contains':
      return text.toLowerCase().includes(match.text.toLowerCase());
    case 'exact':
      return text === match.text;
    case 'regex':
      // A sticky or global expression would keep its position.
      return new RegExp(match.regex.source, match.regex.flags.replaceAll(/[gy]/gu, '')).test(text);
  }
}

/** What an expectation is compared with: the events since the caller's act, and the current slots. */
export interface Happened {
  readonly events: readonly ChatEvent[];
  readonly slots: Readonly<Record<string, string>>;
}

/** @returns undefined if met, else what was expected and what happened, for people */
export function check(expectation: Expectation, happened: Happened): { expected: string; got: string } | undefined {
  switch (expectation.kind) {
    case 'says': {
      const said = saidIn(happened.events);
      const { match, negated } = expectation;
      const isMet = match === undefined ? said === '' : fits(match, said) !== negated;
      return isMet
        ? undefined
        : { expected: expectedWords(match, negated), got: said === '' ? 'the bot said nothing' : quoted(said) };
    }
    case 'slot': {
      const { name, match } = expectation;
      const value = happened.slots[name];
      const isMet = match === undefined ? value === undefined : value !== undefined && fits(match, value);
      if (isMet) return undefined;
      const got =
        value === undefined ? `slot ${name} is empty; ${slotsText(happened.slots)}` : `slot ${name} is ${quoted(value)}`;
      return { expected: `slot ${name} ${match === undefined ? 'to be empty' : matchText(match, 'to be')}`, got };
    }
    case 'fact': {
      const { fact, match } = expectation;
      const values = happened.events.flatMap((event) => valuesOf(event, fact));
      if (match === undefined ? values.length > 0 : values.some((value) => fits(match, value))) return undefined;
      const expected = match === undefined ? `[${fact}]` : `[${fact}] ${matchText(match, 'with')}`;
      return {
        expected,
        got: values.length === 0 ? `no [${fact}]${otherFacts(happened.events)}` : values.map(quoted).join(', '),
      };
    }
  }
}

/** The bot's words in these events, in one line; without fillers, which depend on the machine's speed. */
export function saidIn(events: readonly ChatEvent[]): string {
  return spaced(events.flatMap((event) => (event.type === 'says' && event.filler !== true ? [event.text] : [])).join(' '));
}

function valuesOf(event: ChatEvent, fact: Fact): readonly string[] {
  if (event.type === 'end') return fact === 'end' ? [event.reason] : [];
  if (event.type === 'failure') return fact === 'fails' ? [event.message] : [];
  if (event.type === 'plays') return fact === 'play' ? [event.source] : [];
  if (event.type === 'understood') return fact === 'understood' && event.answer.status === 'complete' ? [event.answer.value] : [];
  if (event.type !== 'action') return [];
  const { action } = event;
  switch (action.type) {
    case 'transfer':
      return fact === 'transfer' ? [action.to] : [];
    case 'digits':
      return fact === 'keys' ? [action.digits] : [];
    case 'note':
      return fact === 'note' ? [action.text] : [];
    case 'language':
      return fact === 'language' ? [action.language] : [];
    case 'bot':
      return fact === 'bot' ? [action.name] : [];
    case 'recording':
      return fact === 'recording' ? [action.on ? 'on' : 'off'] : [];
    case 'call-back':
      return fact === 'call-back' ? [action.at ?? ''] : [];
    case 'gather':
      return fact === 'asks' && action.contract !== undefined ? [action.contract.kind] : [];
    case 'step':
      return fact === 'step' ? [action.name] : [];
    case 'set':
    case 'listen':
    case 'fail-over':
    case 'cancel-transfer':
    case 'hangup':
    case 'usage':
      return [];
  }
}

function otherFacts(events: readonly ChatEvent[]): string {
  const names = Object.keys(FACTS).filter(isFact);
  const there = names.flatMap((fact) => events.flatMap((event) => valuesOf(event, fact).map((value) => `[${fact} ${value}]`)));
  return there.length === 0 ? '' : `; there was ${there.join(', ')}`;
}

function slotsText(slots: Readonly<Record<string, string>>): string {
  const filled = Object.entries(slots).map(([name, value]) => `${name} = ${value}`);
  return filled.length === 0 ? 'no slot is filled' : `filled are ${filled.join(', ')}`;
}

function expectedWords(match: Match | undefined, negated: boolean): string {
  if (match === undefined) return 'the bot to say nothing';
  const not = negated ? 'not ' : '';
  if (match.how === 'contains') return `the bot ${not}to say ${quoted(match.text)}`;
  return `the bot ${not}to say ${match.how === 'exact' ? `exactly ${quoted(match.text)}` : `what matches ${String(match.regex)}`}`;
}

function matchText(match: Match, verb: string): string {
  return match.how === 'regex' ? `${verb} what matches ${String(match.regex)}` : `${verb} ${quoted(match.text)}`;
}

function quoted(text: string): string {
  return `"${text}"`;
}

export function spaced(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}
