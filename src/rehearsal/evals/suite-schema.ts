import { z } from 'zod';
import { DISPOSITIONS } from '../../records/dialling.ts';
import { readMatch } from '../chat/expectation.ts';

// The schema of a suite: a YAML file of scenarios, each a simulated caller and what must be true at the end of their call. The same schema makes
// `schemas/evals.json`, which completes and checks the file in an editor.

const text = z.string().min(1).max(1000);

/** A rule on a whole object, which is silent where single keys are wrong already. */
function rule(error: string): { error: string; when: (payload: { issues: readonly unknown[] }) => boolean } {
  return { error, when: ({ issues }) => issues.length === 0 };
}

/** A text to look for: it contains these words, capitals aside; `/regex/` matches. */
const pattern = text.superRefine((written, context) => {
  const match = readMatch(written, 'contains');
  if (typeof match === 'string') context.addIssue({ code: 'custom', message: match });
});
/** A value: the exact text, or a `/regex/`; null where there must be none. */
const value = z.union([pattern, z.number(), z.null()]);
const values = z.record(z.string().min(1).max(100), value);
const name = z.string().min(1).max(100);
const keys = z.string().regex(/^[\d*#]{1,64}$/u, 'keys: 0-9, * and #, in quotes');

/** A number, or a range of them. */
const count = z.union([
  z
    .strictObject({ least: z.int().min(0).optional(), most: z.int().min(0).optional() })
    .refine(({ least = 0, most = Infinity }) => least <= most, rule('is impossible: least is above most')),
  z.int().min(0),
]);

/** What the bot did since the caller's last turn; all of it must hold. */
const conditionObject = z.strictObject({
  /** Words of the bot. */
  says: pattern.optional(),
  /** The slot that a flow asks for, or the kind of value that another dialog asks for. */
  asks: name.optional(),
  /** The dialog's current step: a state of a flow. */
  step: name.optional(),
  /** Slots and variables now. */
  variables: values.optional(),
});
const condition = z.union([
  conditionObject.refine((each) => Object.keys(each).length > 0, rule('a condition is missing')),
  pattern,
]);

const actObject = z.strictObject({
  /** What the caller says; one of several by the seed. */
  say: z.union([z.strictObject({ oneOf: z.array(text).min(2).max(50) }), text]).optional(),
  press: keys.optional(),
  /** Words, or keys as `#1`, over what the bot says now. */
  interrupt: text.optional(),
  /** Says nothing until the bot asks again. */
  silence: z.literal(true).optional(),
  hangUp: z.literal(true).optional(),
});
const ACTS = Object.keys(actObject.shape) as readonly (keyof typeof actObject.shape)[];

function hasOneAct(turn: z.output<typeof actObject>): boolean {
  return ACTS.filter((act) => turn[act] !== undefined).length === 1;
}

const ONE_ACT = `exactly one of ${ACTS.join(', ')} is expected`;
const turnObject = actObject.extend({
  when: condition.optional(),
  /** How often it may be taken. */
  times: z.int().min(1).max(50).default(1),
});
const turn = z.union([turnObject.refine(hasOneAct, rule(ONE_ACT)), text]);

const patience = z
  .strictObject({
    /** The caller gives up after this many turns of their own. */
    turns: z.int().min(1).max(500).default(30),
    /** The caller gives up when no turn comes for this long. */
    waitMs: z.int().min(1000).max(3_600_000).default(300_000),
  })
  .prefault({});

/** How a caller is, whatever they want. */
const manner = z.strictObject({
  patience,
  /** Share of the caller's words that are not understood, chosen by the seed. */
  mumbles: z.number().min(0).max(0.9).default(0),
  /** Of calls with sound: language, voice and speed (1 is the voice's own) of the caller. */
  language: z.string().min(2).max(35).optional(),
  voice: z.string().min(1).max(100).optional(),
  rate: z.number().min(0.5).max(2).optional(),
  /** Faults of the caller's line, in calls with sound. */
  line: z
    .strictObject({
      /** Share of the caller's frames that are lost. */
      loss: z.number().min(0).max(0.5).default(0),
      /** Peak of the noise on the line; speech has about 0.3. */
      noise: z.number().min(0).max(0.5).default(0),
      /** Longest delay of a frame, which varies from frame to frame. */
      jitterMs: z.number().min(0).max(1000).default(0),
      /** How much quieter the bot's voice comes back from the caller's phone, in dB; no echo where absent. */
      echoDb: z.number().min(0).max(80).optional(),
    })
    .prefault({}),
});

/** A caller that the suite's model plays. */
const persona = z.strictObject({
  goal: text,
  /** What they know, and must not go beyond. */
  facts: z.record(name, z.union([z.string(), z.number().transform(String)])).default({}),
  /** How they talk. */
  manner: text.optional(),
});

const callerObject = manner.extend({
  /** In order: each time it is the caller's turn, the first one is taken that is left and whose condition holds. */
  turns: z.array(turn).min(1).max(200).default([]),
  /** In place of turns. */
  persona: persona.optional(),
  /** In place of turns: a kept call, as a path beside the suite. */
  recorded: z.string().min(1).max(500).optional(),
  /** What the caller does when no turn fits; without it the scenario fails there. */
  otherwise: z.union([actObject.refine(hasOneAct, rule(ONE_ACT)), text]).optional(),
});

const caller = callerObject.refine(
  ({ turns, persona: played, recorded }) =>
    Number(turns.length > 0) + Number(played !== undefined) + Number(recorded !== undefined) === 1,
  rule('exactly one of turns, persona and recorded is expected'),
);

const callFacts = z.strictObject({
  from: z.string().min(1).max(128).optional(),
  to: z.string().min(1).max(128).optional(),
  /** The language that the call begins in, in place of the bot's. */
  language: z.string().min(2).max(35).optional(),
  /** A call that Offhook places: a person answers it with "hello". */
  outbound: z.boolean().default(false),
  /** Variables that an outbound call begins with. */
  variables: z.record(name, z.union([z.string(), z.number().transform(String)])).default({}),
});

const json = z.json();
const FAILURES = ['refused', 'reset', 'timeout'] as const;
const mockObject = z.strictObject({
  /**
   * What is asked: the path of a flow's request, the name of a model's tool, `bot` for the server of an http bot, `model` for the model of an llm bot,
   * an address, or `*`.
   */
  request: z.string().min(1).max(2000),
  /** Only requests with these values. */
  with: values.optional(),
  status: z.int().min(200).max(599).default(200),
  /** The body, as JSON. */
  answer: json.optional(),
  /** The bodies of successive requests; the last one is repeated. */
  answers: z.array(json).min(1).max(100).optional(),
  /** A body as it stands, for what is no JSON. */
  garbage: z.string().max(100_000).optional(),
  delayMs: z.int().min(0).max(600_000).default(0),
  /** No answer: the connection is refused or reset, or the server stays silent. */
  error: z.enum(FAILURES).optional(),
  /** How many requests it answers, each with its repeats; all where absent. */
  times: z.int().min(1).max(1000).optional(),
});
const BODIES = ['answer', 'answers', 'garbage', 'error'] as const;
const mock = mockObject.refine(
  (each) => BODIES.filter((body) => each[body] !== undefined).length <= 1,
  rule(`at most one of ${BODIES.join(', ')} is expected`),
);

const expectedRequest = z.strictObject({
  /** As in `mocks`. */
  to: z.string().min(1).max(2000),
  /** Values sent: slots of a flow, arguments of a tool, else fields of the body, nested ones as `a.b`. */
  with: values.optional(),
  times: count.default(1),
});

const most = z.int().min(0).max(86_400_000);
const expectation = z.strictObject({
  /** Reasons for the end of the call, one of which must be it. */
  end: z.union([z.array(pattern).min(1), pattern]).optional(),
  /** What a campaign counts the call as; of outbound calls. */
  disposition: z.enum(DISPOSITIONS).optional(),
  variables: values.optional(),
  /** What the caller hears, in this order, other words between. */
  hears: z.array(pattern).min(1).max(100).optional(),
  neverHears: z.array(pattern).min(1).max(100).optional(),
  /** Steps of the dialog in this order, others between. */
  steps: z.array(name).min(1).max(200).optional(),
  neverSteps: z.array(name).min(1).max(200).optional(),
  requests: z.array(expectedRequest).min(1).max(100).optional(),
  notes: z.array(pattern).min(1).max(100).optional(),
  /** The target of the last transfer; null for none. */
  transfer: z.union([pattern, z.null()]).optional(),
  /** Keys that the bot presses. */
  keys: pattern.optional(),
  /** Sounds that the bot plays, in this order. */
  plays: z.array(pattern).min(1).max(100).optional(),
  /** The bot and the language at the end. */
  bot: name.optional(),
  language: z.string().min(2).max(35).optional(),
  /** The time of the call-back that was agreed; '' for one without a time. */
  callBack: z.union([z.literal(''), pattern]).optional(),
  optOut: z.enum(['opt-out', 'wrong-number', 'none']).optional(),
  /** The error of a dialog that had no answer. Without it, a failed answer fails the scenario. */
  fails: pattern.optional(),
  /** Sentences that the suite's model has to find true of the call, each with a quoted line. */
  judge: z.array(text).min(1).max(50).optional(),
  /** Turns of the caller. */
  turns: count.optional(),
  /** Interruptions that stopped the bot, and those that it ignored. */
  interruptions: count.optional(),
  interruptionsIgnored: count.optional(),
  /** How often the bot began to answer while the caller still spoke; of calls with sound. */
  cutOffs: count.optional(),
  /** What the call may cost at most, in the currency of the prices. */
  cost: z.strictObject({ most: z.number().min(0) }).optional(),
  /** Longest times, in ms, by the clock of the depth: virtual time in text. */
  times: z
    .strictObject({
      firstWordMs: most.optional(),
      replyP95Ms: most.optional(),
      longestWaitMs: most.optional(),
      durationMs: most.optional(),
    })
    .optional(),
});

/** A model behind an OpenAI-compatible address, for personas and judges. */
export const modelDocument = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/u }),
  model: z.string().min(1).max(200),
  /** The environment variable with its key. */
  secretEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,99}$/u, 'the name of an environment variable, in capitals')
    .optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** Limit of one answer. */
  maxTokens: z.int().min(1).max(32_768).default(500),
  /** Limit of all its answers and questions in one call. */
  mostTokens: z.int().min(1).max(10_000_000).default(50_000),
  timeoutMs: z.int().min(500).max(300_000).default(60_000),
});

const share = z.number().gt(0).max(1);
const scenario = z.strictObject({
  name: z.string().min(1).max(200),
  /** For readers: why it is there. */
  about: z.string().max(2000).optional(),
  tags: z.array(z.string().min(1).max(50)).max(20).default([]),
  at: z.string().min(1).max(40).optional(),
  call: callFacts.prefault({}),
  caller,
  mocks: z.array(mock).max(100).optional(),
  expect: expectation.refine((each) => Object.keys(each).length > 0, rule('an expectation is missing')),
  /** Share of the runs that must pass. */
  share: share.optional(),
});

/** A suite's file. */
export const suiteDocument = z
  .strictObject({
    /** The name of the bot; the name of the file where absent. */
    bot: z.string().min(1).max(63).optional(),
    /** Date and time of every call, in the bot's time zone: 2026-03-05T10:00. */
    at: z.string().min(1).max(40).default('2026-03-05T10:00'),
    /** How often each scenario is run. */
    runs: z.int().min(1).max(1000).default(1),
    share: share.default(1),
    model: modelDocument.optional(),
    /** Answers of servers in every scenario, after the scenario's own. */
    mocks: z.array(mock).max(100).optional(),
    scenarios: z.array(scenario).min(1).max(500),
  })
  .superRefine(({ scenarios, model: given }, context) => {
    const seen = new Set<string>();
    for (const [
      index,
      {
        name,
        caller: { persona: played },
        expect,
      },
    ] of scenarios.entries()) {
      if (given === undefined && (played !== undefined || expect.judge !== undefined)) {
        const path = ['scenarios', index, ...(played === undefined ? ['expect', 'judge'] : ['caller', 'persona'])];
        context.addIssue({ code: 'custom', path, message: 'needs the model of the suite' });
      }
      if (seen.has(name))
        context.addIssue({ code: 'custom', path: ['scenarios', index, 'name'], message: 'another scenario has this name' });
      seen.add(name);
    }
  });

export type SuiteDocument = z.output<typeof suiteDocument>;
export type ScenarioDocument = SuiteDocument['scenarios'][number];
export type CallerDocument = ScenarioDocument['caller'];
export type PersonaDocument = z.output<typeof persona>;
export type ModelDocument = z.output<typeof modelDocument>;
export type TurnDocument = Exclude<CallerDocument['turns'][number], string>;
export type ConditionDocument = z.output<typeof conditionObject>;
export type ActDocument = z.output<typeof actObject>;
export type MockDocument = z.output<typeof mock>;
export type ExpectationDocument = ScenarioDocument['expect'];
export type Count = z.output<typeof count>;
export type Value = z.output<typeof value>;
