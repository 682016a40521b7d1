import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Problem, problemText } from '../../config/problem.ts';
import { schemaProblems } from '../../config/schema-problems.ts';
import { isTimeZone } from '../../config/time-zone.ts';
import { readYaml } from '../../config/yaml-document.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { type Purpose, PURPOSES } from '../../records/dialling.ts';
import { LINE_TYPES } from '../number.ts';
import { minuteOf, WEEKDAYS } from './local-time.ts';

/** An unusable dialling profile; `problems` has every mistake with its line. */
export class DiallingProfileError extends OffhookError {
  readonly code = 'OFFHOOK_DIALLING_PROFILE';
  readonly retryable = false;
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[]) {
    super(`${source} is not a usable dialling profile:\n${problems.map((problem) => `  ${problemText(problem)}`).join('\n')}`, {
      facts: { source, problems: problems.length },
    });
    this.problems = problems;
  }
}

/** Profiles in `config/dialling`. */
export const SHIPPED_PROFILES = ['in', 'us', 'eu', 'none'] as const;

/** The rule's place in the law, or `house rule`; `(k)` marks rules not verified against the source. */
const source = z.string().min(3).max(500);
/** Absent: all. */
const purposes = z.array(z.enum(PURPOSES)).min(1).optional();
const country = z.string().regex(/^[A-Z]{2}$/, 'an ISO 3166 code in capitals, for example IN');
const time = z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'a time HH:MM, 00:00 to 24:00, in quotes');

const callingHours = z
  .strictObject({
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .default([...WEEKDAYS]),
    from: time,
    to: time,
  })
  .refine(({ from, to }) => minuteOf(from) < minuteOf(to), 'from has to be earlier than to: write hours over midnight as two')
  .transform(({ days, from, to }) => ({ days, fromMinute: minuteOf(from), toMinute: minuteOf(to) }));

/** The call must be within one of the `hours`, in each of the recipient's zones. */
const windowRule = z.strictObject({
  purposes,
  hours: z.array(callingHours).min(1),
  /** The hours also apply in this zone. */
  alsoIn: z.string().refine(isTimeZone, 'a time zone such as Asia/Kolkata').optional(),
  source,
});

/** Most attempts to one number within some hours, or in one campaign. */
const capRule = z
  .strictObject({
    purposes,
    most: z.int().min(0).max(1000),
    withinHours: z.int().min(1).max(8784).optional(),
    perCampaign: z.literal(true).optional(),
    source,
  })
  .refine(
    ({ withinHours, perCampaign }) => (withinHours === undefined) !== (perCampaign === undefined),
    'a cap has withinHours or perCampaign, and not both',
  );

const spacingRule = z.strictObject({ purposes, minutes: z.int().min(1).max(525_600), source });

/** `MM-DD` every year, `YYYY-MM-DD` once, `easter+1` days from Easter Sunday. */
const holiday = z
  .string()
  .regex(/^((\d{4}-)?(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])|easter[+-]\d{1,3})$/, 'MM-DD, YYYY-MM-DD, or easter+1');
const holidayRule = z.strictObject({ purposes, dates: z.array(holiday).min(1), source });

/** Limits on times and numbers of calls: in profiles, overlays, campaigns, and a person's wishes. */
const timingRules = {
  windows: z.array(windowRule).default([]),
  caps: z.array(capRule).default([]),
  spacing: z.array(spacingRule).default([]),
  holidays: z.array(holidayRule).default([]),
};
export const timingRulesSchema = z.strictObject(timingRules);
export type TimingRules = z.infer<typeof timingRulesSchema>;

const overlay = z.strictObject({
  name: z.string().min(1).max(100),
  /** Numbers of these countries, or with these digits after the `+`. */
  countries: z.array(country).default([]),
  prefixes: z.array(z.string().regex(/^\d{1,10}$/, 'digits of a number, in quotes, without +')).default([]),
  ...timingRules,
});

const consentRule = z.strictObject({
  purposes,
  /** `written` is express consent in writing or in its electronic equivalent. */
  level: z.enum(['express', 'written']),
  /** The consent must have an id in a register. */
  registered: z.boolean().default(false),
  /** Absence of the number from this list replaces consent, while the list is fresh. */
  orAbsentFrom: z.string().optional(),
  source,
});

const listRule = z.strictObject({
  name: z.string().min(1).max(64),
  purposes,
  /** Longest age in hours of the list, or of the check against it. */
  maxAgeHours: z.int().min(1).max(87_600),
  /** Consent of this level overrides the list; never the tenant's own list. */
  consentOverrides: z.enum(['express', 'written']).optional(),
  source,
});

/** Duties of the call itself, which the gate cannot check before it. */
const duty = z.strictObject({
  duty: z.enum([
    'say-machine-first',
    'say-identity-first',
    'say-callback-number',
    'opt-out-in-call',
    'opt-out-on-mailbox',
    'ring-at-least',
    'abandon-at-most',
    'recording-consent',
    'tell-operator',
    'keep-evidence',
    'ask-consent-again-after',
    'no-voice-print',
  ]),
  purposes,
  ms: z.int().min(0).optional(),
  percent: z.number().min(0).max(100).optional(),
  days: z.int().min(0).optional(),
  source,
});
export type Duty = z.infer<typeof duty>;

/** Refusals a promised call-back may waive. Hours and legal lists stay. */
const waivable = z.enum(['cap-campaign', 'cap-week', 'cap-day', 'too-soon', 'holiday']);

/** A profile as written in `config/dialling/<name>.yaml`. */
export const diallingProfile = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and hyphens, at most 63'),
  /** Notice that counsel must confirm the profile. */
  notice: z.string().min(20),
  /** Allowed countries; absent: every country. */
  countries: z.array(country).min(1).optional(),
  purposes: z.array(z.enum(PURPOSES)).min(1),
  /** Absent: a call needs no purpose. */
  purposeRequired: z.strictObject({ source }).optional(),
  lineTypes: z.strictObject({ allowed: z.array(z.enum(LINE_TYPES)).min(1), source }),
  /** Registration ids a campaign must name, such as the calling entity's. */
  registrations: z.array(z.strictObject({ name: z.string().min(1).max(64), purposes, source })).default([]),
  consent: z.array(consentRule).default([]),
  lists: z.array(listRule).default([]),
  /** A caller id must begin with one of `prefixes`, digits after the `+`. Every profile refuses numbers that are not the tenant's own. */
  callerIds: z.array(z.strictObject({ purposes, prefixes: z.array(z.string().regex(/^\d{1,15}$/)).min(1), source })).default([]),
  callBack: z
    .strictObject({
      /** How long before and after the promised moment a call counts as the promised one. */
      earlyMinutes: z.int().min(0).max(1440).default(5),
      lateMinutes: z.int().min(1).max(1440).default(30),
      waives: z.array(waivable).default([]),
      source,
    })
    .optional(),
  ...timingRules,
  overlays: z.array(overlay).default([]),
  duties: z.array(duty).default([]),
});
export type DiallingProfile = z.infer<typeof diallingProfile> & {
  /** Equal for equal rules, however written; named in the decision log. */
  readonly hash: string;
};

/** @param path names the text in messages. @throws DiallingProfileError with every problem at once, each with its line */
export function parseProfile(yaml: string, path: string): DiallingProfile {
  const read = readYaml(yaml, path);
  if ('problem' in read) throw new DiallingProfileError(path, [read.problem]);
  const { written, whereOf } = read;
  const parsed = diallingProfile.safeParse(written);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const document = { schema: diallingProfile, issues, written, whereOf, what: 'a dialling profile', root: 'profile' };
    throw new DiallingProfileError(path, schemaProblems(document));
  }
  const { data } = parsed;
  const unknown = data.consent.findIndex(
    ({ orAbsentFrom }) => orAbsentFrom !== undefined && data.lists.every(({ name }) => name !== orAbsentFrom),
  );
  if (unknown >= 0) {
    const keys = ['consent', unknown, 'orAbsentFrom'];
    throw new DiallingProfileError(path, [
      { key: keys.join('.'), where: whereOf(keys), message: 'names a list that the profile does not have under lists' },
    ]);
  }
  return { ...data, hash: createHash('sha256').update(canonicalJson(data)).digest('hex').slice(0, 16) };
}

/**
 * Reads `<folder>/<name>.yaml`.
 * @throws DiallingProfileError
 */
export async function loadDiallingProfile(folder: string, name: string): Promise<DiallingProfile> {
  const path = join(folder, `${name}.yaml`);
  const yaml = await readFile(path, 'utf8').catch((error: unknown): never => {
    throw new DiallingProfileError(path, [{ key: name, where: path, message: `cannot be read: ${errorText(error)}` }]);
  });
  return parseProfile(yaml, path);
}

/** Whether a rule applies to a purpose. A rule without purposes applies to all, and without a purpose all rules apply. */
export function holdsFor(rule: { readonly purposes?: readonly Purpose[] | undefined }, purpose: Purpose | undefined): boolean {
  return rule.purposes === undefined || purpose === undefined || rule.purposes.includes(purpose);
}

/** How far back the gate needs attempts: the longest cap or spacing of the rules, in milliseconds. */
export function attemptHistoryMs(rules: readonly TimingRules[]): number {
  const hours = rules.flatMap(({ caps }) => caps.map(({ withinHours = 0 }) => withinHours));
  const minutes = rules.flatMap(({ spacing }) => spacing.map((each) => each.minutes));
  return Math.max(0, ...hours.map((each) => each * 3_600_000), ...minutes.map((each) => each * 60_000));
}
