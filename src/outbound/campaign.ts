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
  /** Moves the next attempt out of the part of the day of this one: morning, afternoon from 12:00, evening from 17:00. */
  otherTimeOfDay: z.boolean().default(false),
});
export type Retry = z.infer<typeof retry>;

/** Outcomes after which a contact may be called again. After the others it is done. */
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

/** When a contact is called again where the campaign says nothing. */
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
  /** Calls to one contact in all, those that the person asked for apart. */
  most: z.int().min(1).max(50).default(3),
  /** Absent outcomes have their defaults. */
  after: z.partialRecord(z.enum(RETRIED), retry).default({}),
  callBacks: z
    .strictObject({
      /** Call-backs requested by the person; 0 for none. */
      most: z.int().min(0).max(20).default(3),
      /** Where the person named no time. */
      afterMinutes: minutes.default(60),
    })
    .prefault({}),
});

/** Pauses the campaign when its calls go wrong. Shares are of attempts that ended within the window. */
const breakerSettings = z.strictObject({
  windowMinutes: z.int().min(1).max(1440).default(10),
  /** Fewer attempts say nothing. */
  leastAttempts: z.int().min(1).max(100_000).default(20),
  /** Share of `failed` and `unknown`; 1 turns it off. */
  failedShare: share.default(0.4),
  /** Mailboxes among answered calls, more than before the window by this much; 1: never. */
  mailboxJump: share.default(0.35),
});
export type BreakerSettings = z.infer<typeof breakerSettings>;

/** What a campaign does, as its owner writes it. */
export const campaignSettings = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    /** Name of the bot that speaks. */
    bot: name,
    /** Caller ids, which share the calls. */
    from: z.union([e164.transform((number) => [number]), z.array(e164).min(1).max(100)]),
    /** The carrier; absent: the one that the caller id belongs to. */
    carrier: z.string().min(1).max(64).optional(),
    /** Name of the dialling profile. */
    profile: name,
    purpose: z.enum(PURPOSES).optional(),
    /** By the names that the profile gives them. */
    registrations: z.record(z.string().min(1).max(64), z.string().min(1).max(200)).default({}),
    /** The most; the carrier account and the caller ids may allow less. */
    callsPerSecond: z.number().min(0.001).max(1000).default(1),
    /** Calls at once. */
    concurrency: z.int().min(1).max(10_000).default(10),
    /** Share of the account's rate beside other campaigns: twice the weight, twice the calls. */
    weight: z.number().min(0.01).max(1000).default(1),
    /** Hours, caps, spacing and holidays in addition to the profile's. */
    narrowing: timingRulesSchema.prefault({}),
    /** Zone of the contacts that came without one; absent: the zones of their number count. */
    defaultZone: z.string().refine(isTimeZone, 'a time zone such as Asia/Kolkata').optional(),
    /** Whether the zone that a contact came with, or `defaultZone`, narrows the hours of its number, or counts alone. */
    zoneSource: z.enum(['number', 'given']).default('number'),
    ringTimeoutMs: z.int().min(5_000).max(120_000).default(30_000),
    /** Nothing is dialled before. ISO 8601 with an offset. */
    startsAt: z.iso.datetime({ offset: true }).optional(),
    /** Nothing is dialled from then on: what is left is cancelled, and the campaign is finished. */
    endsAt: z.iso.datetime({ offset: true }).optional(),
    attempts: attemptsSettings.prefault({}),
    breaker: breakerSettings.prefault({}),
    /** Kept with each call's record; the dialog does not see it. */
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

/** When a contact is called again after an outcome; undefined where it is done. */
export function retryAfter({ attempts }: Pick<CampaignSettings, 'attempts'>, outcome: Disposition): Retry | undefined {
  return RETRIED.some((name) => name === outcome)
    ? (attempts.after[outcome as (typeof RETRIED)[number]] ?? DEFAULT_RETRIES[outcome])
    : undefined;
}

/** What asks for a change of a campaign's state, and from which states it may. */
export const CAMPAIGN_CHANGES = {
  start: { from: ['draft', 'finished'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  stop: { from: ['draft', 'running', 'paused'], to: 'stopped' },
} as const;
