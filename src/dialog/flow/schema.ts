import { z } from 'zod';
import { checkKind, codePattern, WEEKDAYS, type ClockTime, LANGUAGES } from '../../language/index.ts';
import { keysToPress, soundSource, transferTarget } from '../../config/bots.ts';
import { strictGroup } from './strict-group.ts';

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, 'a name of letters, digits, - and _, at most 63');
const spoken = z.string().min(1).max(2000);
const key = z.string().regex(/^[0-9*]{1,4}$/, 'one to four keys of 0-9 and *, in quotes');
const interruptible = z.enum(['always', 'keypad', 'never']);

/** A sentence for every language (`any`), or one for each. */
const text = z.union([spoken.transform((any) => ({ any })), strictGroup({ en: spoken.optional(), hi: spoken.optional() })]);
const phraseList = z.array(z.string().min(1).max(200)).min(1).max(200);
const phrases = z.union([
  phraseList.transform((any) => ({ any })),
  strictGroup({ en: phraseList.optional(), hi: phraseList.optional() }),
]);

/** How many of the two ways to write a text were used. */
function textForms(given: { readonly [name in 'text' | 'en' | 'hi']?: string | undefined }): number {
  return (given.text === undefined ? 0 : 1) + (given.en === undefined && given.hi === undefined ? 0 : 1);
}

const prompt = z.union([
  spoken.transform((any) => ({ text: { any }, play: undefined, interruptible: undefined, voice: undefined })),
  strictGroup({
    text: spoken.optional(),
    en: spoken.optional(),
    hi: spoken.optional(),
    /** A sound in place of the text, which is then what is heard in it: said where it cannot be played, and kept in the history. */
    play: soundSource.optional(),
    /** Whether the caller may talk over it; the bot's own setting when absent. */
    interruptible: interruptible.optional(),
    voice: z.string().min(1).optional(),
  })
    .refine((given) => textForms(given) === 1 || (given.play !== undefined && textForms(given) === 0), {
      message: 'a prompt needs either text, or en and hi',
    })
    .transform((given) => ({
      text: given.text === undefined ? { en: given.en, hi: given.hi } : { any: given.text },
      play: given.play,
      interruptible: given.interruptible,
      voice: given.voice,
    })),
]);
/** One prompt, or several spoken one after the other. */
const prompts = z.union([z.array(prompt).min(1).max(20), prompt.transform((one) => [one])]);
/** One text for each time it is needed, the last one from then on. */
const escalation = z.array(prompts).min(1).max(10);

const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of the form 08:30')
  .transform((value) => value as ClockTime); // the form was checked

const common = {
  /** What the caller calls this detail when correcting it: `the day`. */
  called: phrases.optional(),
  /** Said when the answer is understood and not possible; `{{ heard }}` is the answer. */
  refused: prompts.optional(),
};

const slot = z.discriminatedUnion('kind', [
  strictGroup({
    kind: z.literal('choice'),
    options: z.record(name, strictGroup({ phrases, key: key.optional(), say: text.optional() })),
    ...common,
  }),
  strictGroup({ kind: z.literal('day'), closed: z.array(z.enum(WEEKDAYS)).max(6).default([]), ...common }),
  strictGroup({ kind: z.literal('time'), from: time.optional(), to: time.optional(), ...common }),
  strictGroup({
    kind: z.literal('digits'),
    /** Exactly this many; or `least` and `most`. */
    length: z.int().min(1).max(32).optional(),
    least: z.int().min(1).max(32).default(1),
    most: z.int().min(1).max(32).default(32),
    ...common,
  }),
  strictGroup({ kind: z.literal('yes-no'), ...common }),
  /** Kept as E.164, `+919876543210`. */
  strictGroup({ kind: z.literal('phone'), region: z.enum(['IN', 'US']), ...common }),
  /** Kept as a decimal with two places; `least` and `most` are whole units of the currency. */
  strictGroup({
    kind: z.literal('money'),
    currency: z.enum(['INR', 'USD']),
    least: z.number().min(0).optional(),
    most: z.number().min(0).optional(),
    ...common,
  }),
  /** `A` is a letter, `9` a digit, `X` either: `AA9999`. */
  strictGroup({ kind: z.literal('code'), pattern: codePattern, check: checkKind.optional(), ...common }),
  strictGroup({ kind: z.literal('email'), ...common }),
  /** `least`: words that make a whole name. */
  strictGroup({ kind: z.literal('name'), least: z.int().min(1).max(6).optional(), ...common }),
  strictGroup({ kind: z.literal('text'), ...common }),
]);

const asking = {
  prompt: prompts,
  notUnderstood: escalation.optional(),
  noInput: escalation.optional(),
  /** How often it asks again before it gives up; by default once for each text given, at least twice. */
  tries: z.int().min(0).max(10).optional(),
  giveUp: name.optional(),
  /** Words to expect; by default those of the answer's kind. */
  hints: z.array(z.string().min(1).max(100)).max(10).optional(),
  endpointingMs: z.int().min(200).max(5000).optional(),
  noInputMs: z.int().min(1000).max(120_000).optional(),
};

const condition = z.union([
  z.string(),
  z.array(z.string()).min(1),
  strictGroup({ filled: z.boolean().optional(), not: z.union([z.string(), z.array(z.string()).min(1)]).optional() }),
]);

const next = z.union([
  name,
  /** Later branches are tried when earlier ones do not hold; the last one has no `when`. */
  z.array(strictGroup({ when: z.record(name, condition).optional(), go: name })).min(1),
  /** By the answer that was asked for; `otherwise` for the values not listed. */
  z.record(z.string(), name),
]);

/** A POST to the bot's server, whose answer fills slots. */
const request = strictGroup({
  /** Behind the server's address. */
  path: z
    .string()
    .regex(/^(?:\/[\w.~%-]+)+\/?$/, 'a path such as /bookings, without values: those go in the body')
    .default(''),
  /** Slots that are sent; all that is known when absent. */
  send: z.array(name).max(100).optional(),
  /** By slot, the field of the JSON answer that fills it; a dot leads into a field's own fields. */
  answer: z
    .record(name, z.string().regex(/^[\w-]+(?:\.[\w-]+)*$/, 'a field of the answer, such as id or doctor.name'))
    .default({}),
  /** How long one try may take, and how many there are. */
  timeoutMs: z.int().min(200).max(30_000).default(4000),
  tries: z.int().min(1).max(5).default(2),
  /** Said again and again while the answer takes long. */
  waiting: prompts.optional(),
  /** Where to go when it fails: a state, or one by what went wrong. */
  failed: z.union([name, z.record(z.string(), name)]),
  /** Where to go when the bot's server has no address here, as on a developer's machine. */
  unset: name.optional(),
});

const state = strictGroup({
  /** Forgets these details on the way in. */
  clear: z.array(name).optional(),
  set: z.record(name, z.string().max(500)).optional(),
  language: z.enum(LANGUAGES).optional(),
  voice: z.string().min(1).optional(),
  note: z.string().min(1).max(500).optional(),
  /** The caller has agreed that the call is recorded, or does not agree any more. */
  recording: z.boolean().optional(),
  say: prompts.optional(),
  request: request.optional(),
  /** Skipped, with `say`, when the detail is known already; `also` are details that the same answer may give. */
  ask: strictGroup({ slot: name, also: z.array(name).max(10).default([]), ...asking }).optional(),
  /** Reads details back. On a no it asks which part is wrong (`which`) and goes to that part's state. */
  confirm: strictGroup({
    parts: z.record(name, name),
    which: prompts,
    yes: name,
    ...asking,
  }).optional(),
  /** Presses these keys at the other end after what is said. */
  press: keysToPress.optional(),
  next: next.optional(),
  /** Ends the call after what is said; the text is the reason in the call record. */
  hangup: z.string().min(1).max(100).optional(),
  /** Connects the caller to somebody else after what is said. */
  transfer: transferTarget.optional(),
  /** Goes on as another bot, whose greeting follows what is said. */
  bot: z.string().min(1).max(63).optional(),
});

const command = z.union([
  z.literal(false),
  strictGroup({
    /** Needed unless the command is built in: help, repeat, stop, goodbye, operator. */
    phrases: phrases.optional(),
    key: key.optional(),
    say: prompts.optional(),
    /** Where to go; without it the question is asked again after `say`. */
    go: name.optional(),
  }),
]);

/** A conversation as written in YAML. Durations are milliseconds. */
export const flowDocument = strictGroup({
  start: name,
  /** Where a caller goes who was not understood too often; a goodbye by default. */
  giveUp: name.optional(),
  /** Languages that every prompt must have; the bot's own by default. */
  languages: z.array(z.enum(LANGUAGES)).min(1).optional(),
  /** Decides what `today` is; that of the bot by default. */
  timeZone: z.string().optional(),
  /** Names for texts used in several prompts: `{{ clinic }}`. */
  values: z.record(name, text).default({}),
  slots: z.record(name, slot).default({}),
  commands: z.record(name, command).default({}),
  states: z.record(name, state),
});

export type FlowDocument = z.output<typeof flowDocument>;
export type Slot = z.output<typeof slot>;
export type StateDocument = z.output<typeof state>;
export type Prompt = z.output<typeof prompt>;
export type Condition = z.output<typeof condition>;

/** A text by language; `any` serves all of them. */
export interface ByLanguage<Value> {
  readonly any?: Value | undefined;
  readonly en?: Value | undefined;
  readonly hi?: Value | undefined;
}

/** A flow that was read and checked. */
export interface Flow extends Omit<FlowDocument, 'languages' | 'timeZone'> {
  /** Whether its requests have somebody to go to. */
  readonly hasServer: boolean;
  /** The first one is where a call starts that asks for none of them. */
  readonly languages: readonly ('en' | 'hi')[];
  readonly timeZone: string;
}
