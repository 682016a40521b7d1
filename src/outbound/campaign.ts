import { z } from 'zod';
import { isTimeZone } from '../config/time-zone.ts';
import type { CampaignRef, StoredCampaign } from '../records/campaigns.ts';
import { type Disposition, PURPOSES } from '../records/dialling.ts';
import { timingRulesSchema } from './gate/profile.ts';

const minutes = z.number().min(0).max(525_600);
const share = z.number().min(0).max(1);
const e164 = z.string().regex(/^\+[1-9]\d{6,14}$/, 'a number in E.164 form, for example +15550100001');
const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and hyphens, at most 63');

/** When a contact is called again after an outcome. */
const retry = z.strictObject({
  /** Wait before the first, second, … further attempt after this outcome; the last one holds for all later ones. */
  afterMinutes: z.array(minutes).min(1).max(20),
  /** Further attempts after this outcome; 0 for none. */
  most: z.int().min(0).max(20),
  /** Moves the next attempt to another part of the day: morning, afternoon from 12:00, evening from 17:00. */
  otherTimeOfDay: z.boolean().default(false),
});
export type Retry = z.infer<typeof retry>;

/** Outcomes after which a contact may be called again; other outcomes finish it. */
export const RETRIED = [
  'busy',
  'no-answer',
  'rejected',
  'failed',
  'cancelled',
  'mailbox',
  'mailbox-full',
  'message-left',
  'screening',
  'ivr',
  'hold',
  'silence',
  'bot',
  'abandoned',
] as const satisfies readonly Disposition[];

/** Default retries. */
export const DEFAULT_RETRIES: Readonly<Partial<Record<Disposition, Retry>>> = {
  busy: { afterMinutes: [15, 60], most: 2, otherTimeOfDay: false },
  'no-answer': { afterMinutes: [240], most: 2, otherTimeOfDay: true },
  failed: { afterMinutes: [10, 60], most: 2, otherTimeOfDay: false },
  cancelled: { afterMinutes: [5], most: 1, otherTimeOfDay: false },
  mailbox: { afterMinutes: [240], most: 2, otherTimeOfDay: true },
  'mailbox-full': { afterMinutes: [1440], most: 1, otherTimeOfDay: true },
  screening: { afterMinutes: [240], most: 1, otherTimeOfDay: true },
  hold: { afterMinutes: [60], most: 1, otherTimeOfDay: false },
  silence: { afterMinutes: [60], most: 1, otherTimeOfDay: true },
  abandoned: { afterMinutes: [240], most: 1, otherTimeOfDay: true },
};

const attemptsSettings = z.strictObject({
  /** Most calls to one contact, without requested call-backs. */
  most: z.int().min(1).max(50).default(3),
  /** Absent outcomes have their defaults. */
  after: z.partialRecord(z.enum(RETRIED), retry).default({}),
  callBacks: z
    .strictObject({
      /** Call-backs requested by the person; 0 for none. */
      most: z.int().min(0).max(20).default(3),
      /** Delay where the person named no time. */
      afterMinutes: minutes.default(60),
    })
    .prefault({}),
});

/** Pauses the campaign when its calls go wrong. Shares count attempts that ended within the window. */
const breakerSettings = z.strictObject({
  windowMinutes: z.int().min(1).max(1440).default(10),
  /** Least number of attempts for a decision. */
  leastAttempts: z.int().min(1).max(100_000).default(20),
  /** Share of `failed` and `unknown`; 1 turns it off. */
  failedShare: share.default(0.4),
  /** Rise of the mailbox share among answered calls, against before the window; 1 turns it off. */
  mailboxJump: share.default(0.35),
});
export type BreakerSettings = z.infer<typeof breakerSettings>;

/** A campaign as written by its owner. */
export const campaignSettings = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    bot: name,
    /** Caller ids, which share the calls. */
    from: z.union([e164.transform((number) => [number]), z.array(e164).min(1).max(100)]),
    /** The carrier; absent: the caller id's. */
    carrier: z.string().min(1).max(64).optional(),
    /** Name of the dialling profile. */
    profile: name,
    purpose: z.enum(PURPOSES).optional(),
    /** Registration ids by the profile's names. */
    registrations: z.record(z.string().min(1).max(64), z.string().min(1).max(200)).default({}),
    /** Highest rate; the carrier account and the caller ids may allow less. */
    callsPerSecond: z.number().min(0.001).max(1000).default(1),
    /** Most concurrent calls. */
    concurrency: z.int().min(1).max(10_000).default(10),
    /** Share of the account's rate beside other campaigns: twice the weight, twice the calls. */
    weight: z.number().min(0.01).max(1000).default(1),
    /** Hours, caps, spacing and holidays in addition to the profile's. */
    narrowing: timingRulesSchema.prefault({}),
    /** Zone of contacts without one; absent: the zones of their number. */
    defaultZone: z.string().refine(isTimeZone, 'a time zone such as Asia/Kolkata').optional(),
    /** `number`: a contact's own zone or `defaultZone` narrows the hours of its number's zones; `given`: it counts alone. */
    zoneSource: z.enum(['number', 'given']).default('number'),
    ringTimeoutMs: z.int().min(5_000).max(120_000).default(30_000),
    /** First dialling time. ISO 8601 with an offset. */
    startsAt: z.iso.datetime({ offset: true }).optional(),
    /** Last dialling time: remaining contacts are cancelled, and the campaign is finished. */
    endsAt: z.iso.datetime({ offset: true }).optional(),
    attempts: attemptsSettings.prefault({}),
    breaker: breakerSettings.prefault({}),
    /** Stored with each call's record; not visible to the dialog. */
    metadata: z.record(z.string().min(1).max(64), z.string().max(500)).default({}),
  })
  .refine(({ startsAt, endsAt }) => startsAt === undefined || endsAt === undefined || Date.parse(startsAt) < Date.parse(endsAt), {
    message: 'endsAt has to be later than startsAt',
    path: ['endsAt'],
  });
export type CampaignSettings = z.infer<typeof campaignSettings>;
/** The same as JSON, before defaults: what is stored. */
export type WrittenSettings = z.input<typeof campaignSettings>;

export interface Campaign extends Omit<StoredCampaign, 'settings'> {
  readonly settings: CampaignSettings;
}

/** Reads the settings of a stored campaign. @throws TypeError when they are of another version's form */
export function readCampaign(stored: StoredCampaign): Campaign {
  const parsed = campaignSettings.safeParse(stored.settings);
  if (!parsed.success) {
    throw new TypeError(`the settings of campaign ${stored.id} cannot be read: ${z.prettifyError(parsed.error)}`);
  }
  return { ...stored, settings: parsed.data };
}

export function campaignRef({ tenantId, id }: Pick<Campaign, 'tenantId' | 'id'>): CampaignRef {
  return { tenantId, campaignId: id };
}

/** The retry rule of an outcome; undefined where it finishes the contact. */
export function retryAfter({ attempts }: Pick<CampaignSettings, 'attempts'>, outcome: Disposition): Retry | undefined {
  return RETRIED.some((name) => name === outcome)
    ? (attempts.after[outcome as (typeof RETRIED)[number]] ?? DEFAULT_RETRIES[outcome])
    : undefined;
}

/** Changes of a campaign's state, and the states they are possible in. */
export const CAMPAIGN_CHANGES = {
  start: { from: ['draft', 'finished'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  stop: { from: ['draft', 'running', 'paused'], to: 'stopped' },
} as const;
