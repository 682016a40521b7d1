import { z } from 'zod';
import { patternProblem } from '../../kernel/pattern.ts';
import { type Condition, condition, fieldsIn, rolesIn, understanding } from './profile-conditions.ts';

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/u, 'lower-case letters, digits and hyphens, at most 63');
const fieldName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,62}$/u, 'a letter, then letters, digits and _, at most 63 in all');
const term = z.string().min(1).max(200);
const webAddress = z.url({ protocol: /^https?$/u });
const role = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/u, 'lower-case letters, digits and hyphens, at most 31');

/** What personal data is looked for; see `redaction/personal.ts` for what each kind finds. */
export const PERSONAL_KINDS = ['card', 'aadhaar', 'pan', 'phone', 'email', 'long-number'] as const;
export type PersonalKind = (typeof PERSONAL_KINDS)[number];

/** Everything of the batch endpoint that is no insight and no redaction (ASR doc, parameter table). */
const recognition = z.strictObject({
  /** Written into another script, for example Latin. */
  outputScript: term.optional(),
  boostPhrases: z.array(term).max(1000).default([]),
  boostWeight: z.number().min(0).max(1000).optional(),
  emotion: z.boolean().default(false),
  medicalTerms: z.boolean().default(false),
  profanity: z.boolean().default(false),
  codeSwitch: z.boolean().default(false),
});

const channels = z.strictObject({
  /** Roles on the channels of a stereo recording, left one first. */
  roles: z.tuple([role, role]).default(['customer', 'agent']),
  /** `separate`: each channel is recognised by itself. `mixed`: as if it were mono. */
  stereo: z.enum(['separate', 'mixed']).default('separate'),
  mono: z
    .strictObject({
      /** Told apart by their voices; 1 turns that off. */
      speakers: z.int().min(1).max(20).default(2),
      /** Roles in the order in which people are first heard; those of `roles`, the second one first, when absent: see `monoRoles`. */
      roles: z.array(role).max(20).optional(),
    })
    .prefault({}),
  /** What to do with a file that ends before its header says. */
  truncated: z.enum(['refuse', 'analyse']).default('refuse'),
});

/** Roles on a shared channel in order of first speech. The answering party speaks first, and is the second role. */
export function monoRoles({ roles: [first, second], mono }: z.output<typeof channels>): readonly string[] {
  return mono.roles ?? [second, first];
}

const speakers = z.strictObject({
  /** Names speakers by their registered profiles. */
  identify: z.boolean().default(false),
  /** Role of the speaker with this profile name. */
  roles: z.record(z.string().min(1).max(200), role).default({}),
});

const redaction = z.strictObject({
  /** Words and phrases that are never stored: hidden by the platform, and once more here. */
  keywords: z.array(term).max(1000).default([]),
  personal: z.array(z.enum(PERSONAL_KINDS)).default([]),
});

/** `false`, `true`, or settings, which say true too. */
const flagged = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.union([
    z.literal(false),
    z
      .literal(true)
      .transform((): object => ({}))
      .pipe(z.strictObject(shape)),
    z.strictObject(shape),
  ]);

const insights = z.strictObject({
  summary: flagged({ maxLength: z.int().min(1).max(10_000).optional() }).default(false),
  sentiment: z.boolean().default(false),
  /** With choices, one of them; without, one of the platform's own labels. */
  intent: flagged({ choices: z.array(term).min(1).max(100).optional() }).default(false),
  keyTerms: flagged({ keywords: z.array(term).min(1).max(1000).optional() }).default(false),
  /**
   * Speech that insights are drawn from, where channels are recognised separately: the first role's, or all, for which the whole recording is sent
   * once more.
   */
  of: z.enum(['first-channel', 'everybody']).default('first-channel'),
});

const limits = {
  /** For `digits`: how many; for `text` from a model: how long. */
  least: z.int().min(1).max(1000).optional(),
  most: z.int().min(1).max(1000).optional(),
};

const rule = z.strictObject({
  /**
   * A regular expression that runs in linear time, case left aside; its group `value`, else its first group, else all of it, is
   * the value.
   */
  pattern: z
    .string()
    .min(1)
    .max(500)
    .superRefine((text, context) => {
      const message = patternProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional(),
  /** What a rule of a bot's own understanding reads, in English and Hindi. */
  understand: understanding.optional(),
  /** Only in what follows one of these phrases: the rest of that piece of speech, else the next two pieces of the role in `by`. */
  after: z.array(term).max(100).default([]),
  /** Which of several matches counts. The last by default, as people correct themselves. */
  take: z.enum(['first', 'last']).default('last'),
});

const field = z
  .strictObject({
    name: fieldName,
    description: z.string().max(1000).optional(),
    type: z.enum(['text', 'number', 'integer', 'boolean', 'date', 'time', 'digits', 'choice', 'email']),
    /** For `choice`: each choice with the phrases that mean it, besides its own name. */
    choices: z.record(term, z.array(term)).optional(),
    ...limits,
    /** The role whose words count; all roles when absent. */
    by: role.optional(),
    from: z.enum(['rules', 'model']).default('rules'),
    rules: z.array(rule).max(20).default([]),
    required: z.boolean().default(false),
  })
  .superRefine((field, context) => {
    const issue = (message: string, path: string): void => context.addIssue({ code: 'custom', message, path: [path] });
    if (field.type === 'choice' && Object.keys(field.choices ?? {}).length === 0) issue('a choice needs choices', 'choices');
    if (field.type !== 'choice' && field.choices !== undefined) issue('only a choice has choices', 'choices');
    if (field.from === 'rules' && field.rules.length === 0) issue('a field from rules needs a rule', 'rules');
    if (field.from === 'model' && field.rules.length > 0) issue('a field from a model has no rules', 'rules');
    for (const { pattern, understand } of field.rules)
      if ((pattern === undefined) === (understand === undefined))
        issue('a rule is either a pattern or an understanding', 'rules');
  });

/** A model behind an OpenAI-compatible chat address. It sees the transcript after redaction. */
const model = z.strictObject({
  baseUrl: webAddress,
  name: z.string().min(1).max(200),
  /** The environment variable with its key, or with `_FILE` behind it the file that holds it. */
  secretEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,99}$/u, 'the name of an environment variable, in capitals')
    .optional(),
  instructions: z.string().max(20_000).optional(),
  timeoutMs: z.int().min(1000).max(600_000).default(60_000),
  /** Longer transcripts are cut in the middle. */
  maxCharacters: z.int().min(1000).max(1_000_000).default(60_000),
});

const checklistItem = z.strictObject({
  id: fieldName,
  question: z.string().min(1).max(500),
  weight: z.number().min(0).max(1000).default(1),
  /** The item counts only where this holds. */
  applies: condition.optional(),
  pass: condition,
});

const outcome = z.strictObject({ value: name, label: z.string().max(200).optional(), when: condition });

const measures = z.strictObject({
  /** Quiet on all channels for at least this long is a silence. */
  silenceMs: z.int().min(200).max(600_000).default(3000),
  /** Both speaking for at least this long is an overlap. */
  overlapMs: z.int().min(20).max(60_000).default(200),
  /** A speaker who begins during another's speech, and still speaks this long after, interrupted if the other then stopped. */
  interruptionMs: z.int().min(100).max(60_000).default(500),
});

/** An analysis profile as written in `config/analysis/<name>.yaml`. Durations are milliseconds. */
export const analysisProfile = z
  .strictObject({
    name,
    description: z.string().max(1000).optional(),
    /** Bots with this profile; other bots use the profile `default`. */
    bots: z.array(z.string().min(1).max(63)).max(1000).default([]),
    /** ISO 639 code, or `auto`, which is about ten times slower (ASR doc). */
    language: z
      .string()
      .regex(/^(auto|[a-z]{2,3}(-[A-Za-z0-9]{2,8})*)$/u, 'an ISO 639 code, for example en or hi, or auto')
      .default('auto'),
    /** `medical` uses the medical service, which has no insights. */
    route: z.enum(['standard', 'medical']).default('standard'),
    timeZone: z.string().refine(isTimeZone, 'an IANA time zone, for example Asia/Kolkata').default('UTC'),
    recognition: recognition.prefault({}),
    channels: channels.prefault({}),
    speakers: speakers.prefault({}),
    redaction: redaction.prefault({}),
    insights: insights.prefault({}),
    measures: measures.prefault({}),
    fields: z.array(field).max(100).default([]),
    model: model.optional(),
    checklist: z.array(checklistItem).max(200).default([]),
    disposition: z
      .strictObject({
        /** The first whose condition holds counts. */
        outcomes: z.array(outcome).min(1).max(100),
        otherwise: name,
      })
      .optional(),
  })
  .superRefine((profile, context) => {
    const issue = (message: string, ...path: (string | number)[]): void => context.addIssue({ code: 'custom', message, path });
    const names = profile.fields.map((field) => field.name);
    for (const [index, each] of names.entries())
      if (names.indexOf(each) !== index) issue(`a second field called ${each}`, 'fields', index, 'name');
    const ids = profile.checklist.map(({ id }) => id);
    for (const [index, each] of ids.entries())
      if (ids.indexOf(each) !== index) issue(`a second item called ${each}`, 'checklist', index, 'id');
    if (profile.model === undefined && profile.fields.some(({ from }) => from === 'model'))
      issue('a field from a model needs a model', 'model');
    const used = (condition: Condition, ...path: (string | number)[]): void => {
      for (const field of fieldsIn(condition)) if (!names.includes(field)) issue(`there is no field ${field}`, ...path);
      for (const role of rolesIn(condition)) if (!roles.has(role)) issue(`there is no role ${role}`, ...path);
    };
    const { channels, speakers } = profile;
    const roles = new Set([...channels.roles, ...monoRoles(channels), ...Object.values(speakers.roles)]);
    for (const [index, { by }] of profile.fields.entries())
      if (by !== undefined && !roles.has(by)) issue(`there is no role ${by}`, 'fields', index, 'by');
    for (const [index, { applies, pass }] of profile.checklist.entries()) {
      used(pass, 'checklist', index, 'pass');
      if (applies !== undefined) used(applies, 'checklist', index, 'applies');
    }
    for (const [index, { when }] of (profile.disposition?.outcomes ?? []).entries())
      used(when, 'disposition', 'outcomes', index, 'when');
    const { summary, sentiment, intent, keyTerms } = profile.insights;
    if (profile.route === 'medical' && [summary, sentiment, intent, keyTerms].some((asked) => asked !== false))
      issue('the medical route has no insights', 'insights');
  });

export type AnalysisProfile = z.output<typeof analysisProfile>;
export type ProfileField = AnalysisProfile['fields'][number];

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
