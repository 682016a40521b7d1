import { z } from 'zod';
import { didYouMean } from '../../config/nearest.ts';
import { calendarDay, checkKind, codePattern, WEEKDAYS, type ClockTime, LANGUAGES } from '../../language/index.ts';
import { keysToPress, soundSource } from '../../config/bots.ts';
import { ringMs, transferTarget } from '../../config/transfer-target.ts';

/** An object of known keys only; an unknown one is reported with the nearest known one. */
function strictGroup<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const texts = issue.keys.map((key) => {
        const hint = didYouMean(key, Object.keys(shape));
        return `no such key: ${key}${hint === '' ? '' : `.${hint}`}`;
      });
      return `${texts.join(' ')} Allowed here: ${Object.keys(shape).join(', ')}`;
    },
  });
}

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

/** How many of the two notations were used. */
function textForms(given: { readonly [name in 'text' | 'en' | 'hi']?: string | undefined }): number {
  return (given.text === undefined ? 0 : 1) + (given.en === undefined && given.hi === undefined ? 0 : 1);
}

const prompt = z.union([
  spoken.transform((any) => ({ text: { any }, play: undefined, interruptible: undefined, voice: undefined })),
  strictGroup({
    text: spoken.optional(),
    en: spoken.optional(),
    hi: spoken.optional(),
    /** A sound in place of the text, which is then the history entry, and spoken when the sound cannot be played. */
    play: soundSource.optional(),
    /** Whether the caller may interrupt it; the bot's setting when absent. */
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
/** One text for the first time, one for the second and so on; the last one repeats. */
const escalation = z.array(prompts).min(1).max(10);

const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of the form 08:30')
  .transform((value) => value as ClockTime); // Its form was checked.

const common = {
  /** Names the caller may use for it when correcting it: `the day`. */
  called: phrases.optional(),
  /** Spoken when the answer is understood but not possible; `{{ heard }}` is the answer. */
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
  /** How often the question is asked again before giving up; by default once for each text given, at least twice. */
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
  /** Appended to the server's address. */
  path: z
    .string()
    .regex(/^(?:\/[\w.~%-]+)+\/?$/, 'a path such as /bookings, without values: those go in the body')
    .default(''),
  /** Slots that are sent; all known slots when absent. */
  send: z.array(name).max(100).optional(),
  /** For each slot, the field of the JSON answer that fills it; `doctor.name` is a field within a field. */
  answer: z
    .record(name, z.string().regex(/^[\w-]+(?:\.[\w-]+)*$/, 'a field of the answer, such as id or doctor.name'))
    .default({}),
  /** How long one try may take, and how many there are. */
  timeoutMs: z.int().min(200).max(30_000).default(4000),
  tries: z.int().min(1).max(5).default(2),
  /** Repeated while the answer takes long. */
  waiting: prompts.optional(),
  /** Where to go when it fails: one state, or a state for each kind of failure. */
  failed: z.union([name, z.record(z.string(), name)]),
  /** Where to go when the bot's server has no address, as on a developer's machine. */
  unset: name.optional(),
});

const span = z
  .string()
  .regex(
    /^(?:[01]\d|2[0-3]):[0-5]\d-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/,
    'times of one day such as 09:00-17:30, 24:00 at the latest',
  )
  .refine(
    (written) => written.slice(0, 5) < written.slice(6),
    'its end must be later than its beginning; a night is written as two days',
  )
  .transform((written) => ({ from: written.slice(0, 5), to: written.slice(6) }));
const spans = z.union([z.array(span).min(1).max(8), span.transform((one) => [one])]);
const date = z.string().refine((text) => {
  try {
    return calendarDay(text) === text;
  } catch {
    return false;
  }
}, 'a date such as 2026-12-25');

const hours = strictGroup({
  /** The flow's where absent. */
  timeZone: z.string().optional(),
  /** By weekday; missing days are closed. */
  open: z.partialRecord(z.enum(WEEKDAYS), spans),
  /** Exceptions by date: closed, or open at other times. */
  holidays: z
    .array(
      z.union([
        date.transform((day) => ({ date: day, open: [] })),
        strictGroup({ date, open: spans.optional() }).transform((given) => ({ date: given.date, open: given.open ?? [] })),
      ]),
    )
    .max(400)
    .default([]),
  /** Where a call outside business hours begins; as usual when absent. */
  closed: name.optional(),
});

/** Records a message after a tone. */
const voicemail = strictGroup({
  /** Said before the tone. */
  prompt: prompts.optional(),
  /** The silence that ends it, and its longest time. A key also ends it. */
  silenceMs: z.int().min(1000).max(10_000).default(3000),
  maxMs: z.int().min(5000).max(600_000).default(120_000),
  /** Longest silence at its beginning. */
  noInputMs: z.int().min(1000).max(30_000).default(6000),
  /** A text slot for its words. */
  slot: name.optional(),
  /** Next state for a silent caller; a goodbye when absent. */
  empty: name.optional(),
});

/** Callers of one agent queue in order of arrival, and hear their place. */
const queue = strictGroup({
  maxWaitMs: z.int().min(5000).max(3_600_000).default(600_000),
  /** Said after the place: how to leave the queue. */
  say: text.optional(),
  /** By key: the state that a caller leaves the queue for. */
  leave: z.record(key, name).default({}),
});

/** The target of a transfer, and the next state when it fails; apology and end by default. */
const transfer = strictGroup({
  to: transferTarget,
  /** The caller stays with the bot while the agent is rung, who hears the brief and takes the call by a key. */
  warm: strictGroup({
    brief: text,
    /** Language of the brief; the call's where absent. */
    language: z.enum(LANGUAGES).optional(),
    voice: z.string().min(1).optional(),
    ringMs: ringMs.optional(),
    /** While the agent is busy or does not answer, they are rung again. */
    queue: queue.optional(),
  }).optional(),
  /** One state, or a state for each outcome. */
  failed: z.union([name, z.record(z.string(), name)]).optional(),
});

const state = strictGroup({
  /** Outside business hours the call goes there instead. */
  closed: name.optional(),
  /** Clears these slots on entry. */
  clear: z.array(name).optional(),
  set: z.record(name, z.string().max(500)).optional(),
  language: z.enum(LANGUAGES).optional(),
  voice: z.string().min(1).optional(),
  note: z.string().min(1).max(500).optional(),
  /** Starts or stops the recording, as the caller agreed. */
  recording: z.boolean().optional(),
  /** Requests a call-back at the day and time in these slots, in the person's own time; without a time, at any. */
  callBack: strictGroup({ day: name.optional(), time: name.optional() }).optional(),
  say: prompts.optional(),
  request: request.optional(),
  /** Skipped, with `say`, when the slot is filled already; the same answer may fill the slots in `also`. */
  ask: strictGroup({ slot: name, also: z.array(name).max(10).default([]), ...asking }).optional(),
  /** Reads slots back. After a no it asks which part is wrong (`which`) and goes to that part's state. */
  confirm: strictGroup({
    parts: z.record(name, name),
    which: prompts,
    yes: name,
    ...asking,
  }).optional(),
  /** Records a message after a tone; `next` follows it. */
  voicemail: voicemail.optional(),
  /** Sends these DTMF keys to the other party after speaking. */
  press: keysToPress.optional(),
  next: next.optional(),
  /** Ends the call after speaking; the text is the reason in the call record. */
  hangup: z.string().min(1).max(100).optional(),
  /** Transfers the caller after speaking: to a number or a `sip:` address, or as `transfer` says. */
  transfer: z.union([transferTarget.transform((to) => ({ to, warm: undefined, failed: undefined })), transfer]).optional(),
  /** Hands the call to another bot, which greets after this. */
  bot: z.string().min(1).max(63).optional(),
});

const command = z.union([
  z.literal(false),
  strictGroup({
    /** Needed unless the command is built in: help, repeat, stop, goodbye, operator, callBack. */
    phrases: phrases.optional(),
    key: key.optional(),
    say: prompts.optional(),
    /** Where to go; without it the question is repeated after `say`. */
    go: name.optional(),
  }),
]);

/** A conversation as written in YAML. Durations are milliseconds. */
export const flowDocument = strictGroup({
  start: name,
  /** Where a caller goes after too many misunderstandings; a goodbye by default. */
  giveUp: name.optional(),
  /** Languages that every prompt must have; the bot's language by default. */
  languages: z.array(z.enum(LANGUAGES)).min(1).optional(),
  /** Decides which day is `today`; the bot's time zone by default. */
  timeZone: z.string().optional(),
  /** The business hours; `{{ opens }}` says when the next ones begin. */
  hours: hours.optional(),
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

/** A parsed and checked flow. */
export interface Flow extends Omit<FlowDocument, 'languages' | 'timeZone'> {
  /** Whether the bot has a server for its requests. */
  readonly hasServer: boolean;
  /** A call in another language starts in the first. */
  readonly languages: readonly ('en' | 'hi')[];
  readonly timeZone: string;
}
