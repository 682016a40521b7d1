import { z } from 'zod';
import { campaignSettings, type Campaign } from '../../campaigns/campaign.ts';
import { CONTACT_STATES, type CampaignContact, type CampaignCounts, CAMPAIGN_STATES } from '../../store/campaigns.ts';
import { DISPOSITIONS } from '../../store/dialling.ts';
import { maskNumbersIn } from '../../store/privacy/mask-number.ts';
import type { Principal } from './api-keys.ts';
import { isoTime, numbersFor } from './call-views.ts';
import { UploadedFile } from './upload.ts';

const wallTime = z.iso.datetime();
const disposition = z.enum(DISPOSITIONS);
const tally = z.partialRecord(z.enum([...DISPOSITIONS, 'under-way']), z.int());

/** A campaign as its owner wrote it; absent fields have their defaults. */
export const campaignBody = campaignSettings;

export const campaignView = z.object({
  id: z.string(),
  name: z.string(),
  bot: z.string(),
  /** The tenant's own numbers, in full. */
  from: z.array(z.string()),
  profile: z.string(),
  purpose: z.string().nullable(),
  state: z.enum(CAMPAIGN_STATES),
  /** Why it was paused or stopped. */
  reason: z.string().nullable(),
  createdAt: wallTime,
  startedAt: wallTime.nullable(),
  changedAt: wallTime,
  endedAt: wallTime.nullable(),
  /** When numbers and variables of its contacts were destroyed. */
  erasedAt: wallTime.nullable(),
});

const contactCounts = z.object({
  total: z.int(),
  states: z.record(z.enum(CONTACT_STATES), z.int()),
  /** Of contacts that are done. */
  outcomes: tally,
});

export const campaignDetailView = campaignView.extend({
  contacts: contactCounts,
  /** What it lacks for its first call; empty once it may start. */
  missing: z.array(z.object({ missing: z.string(), detail: z.string() })),
  /** All that it was made with, defaults included. */
  settings: z.unknown(),
});

const optionalTime = (wallMs: number | undefined): string | null => (wallMs === undefined ? null : isoTime(wallMs));

export function viewOfCampaign({ settings, ...campaign }: Campaign): z.output<typeof campaignView> {
  const { id, name, state, reason = null } = campaign;
  return {
    id,
    name,
    bot: settings.bot,
    from: [...settings.from],
    profile: settings.profile,
    purpose: settings.purpose ?? null,
    state,
    reason,
    createdAt: isoTime(campaign.createdAtMs),
    startedAt: optionalTime(campaign.startedAtMs),
    changedAt: isoTime(campaign.changedAtMs),
    endedAt: optionalTime(campaign.endedAtMs),
    erasedAt: optionalTime(campaign.erasedAtMs),
  };
}

export function viewOfCounts({ contacts: total, states, dispositions }: CampaignCounts): z.output<typeof contactCounts> {
  return { total, states, outcomes: dispositions };
}

export const contactView = z.object({
  id: z.string(),
  /** Masked without the scope `numbers:read`; empty once erased. */
  number: z.string(),
  zone: z.string().nullable(),
  /** Numbers in them are masked without `numbers:read`. */
  variables: z.record(z.string(), z.string()),
  state: z.enum(CONTACT_STATES),
  /** When it may be called next; null once it is done. */
  dueAt: wallTime.nullable(),
  attempts: z.int(),
  outcomes: tally,
  /** Of its last call, or of the contact when it is done. */
  disposition: disposition.nullable(),
  /** The name of a refusal, or the carrier's word for a failure. */
  cause: z.string().nullable(),
  lastAttemptId: z.string().nullable(),
  /** When the person asked to be called. */
  callBackAt: wallTime.nullable(),
});

export function viewOfContact(contact: CampaignContact, key: Pick<Principal, 'scopes'>): z.output<typeof contactView> {
  const { number, variables, state, dueAtMs } = contact;
  const masked = (text: string): string => (key.scopes.includes('numbers:read') ? text : maskNumbersIn(text, [number]));
  return {
    id: contact.id,
    number: numbersFor(key)(number),
    zone: contact.zone ?? null,
    variables: Object.fromEntries(Object.entries(variables).map(([name, value]) => [masked(name), masked(value)])),
    state,
    dueAt: state === 'done' ? null : isoTime(dueAtMs),
    attempts: contact.attempts,
    outcomes: contact.outcomes,
    disposition: contact.disposition ?? null,
    cause: contact.cause ?? null,
    lastAttemptId: contact.lastAttemptId ?? null,
    callBackAt: optionalTime(contact.callBackAtMs),
  };
}

const text = z.string().max(2000);

/** A list of contacts, or a file. */
export const contactsBody = z.union(
  [
    z.strictObject({
      contacts: z
        .array(
          z.strictObject({
            /** International, or of the region that the request names. */
            number: z.string().max(100),
            timeZone: z.string().max(100).optional(),
            variables: z
              .record(z.string().min(1).max(100), text)
              .refine((variables) => Object.keys(variables).length <= 100, 'at most 100 variables')
              .optional(),
          }),
        )
        .min(1)
        .max(10_000),
    }),
    z.strictObject({ file: z.instanceof(UploadedFile).meta({ type: 'string', contentMediaType: 'text/csv' }) }),
  ],
  {
    error(issue) {
      const issues = issue.code === 'invalid_union' ? issue.errors[0] : undefined;
      return issues === undefined ? undefined : z.prettifyError({ issues }).replace(/^✖ /u, '');
    },
  },
);

/** What became of the rows. */
export const importView = z.object({
  rows: z.int(),
  added: z.int(),
  /** Numbers that the campaign had before; they stay as they were. */
  known: z.int(),
  duplicates: z.int(),
  refused: z.int(),
  /** The first 1,000 duplicates and refused rows; lines of a file count its header, places of a list count from 1. */
  problems: z.array(z.object({ line: z.int(), reason: z.string() })).readonly(),
});

/** What became of the campaign's calls. `left`: there are more, send the request again. */
export const erasureView = z.object({ erased: z.int(), held: z.int(), live: z.int(), left: z.boolean() });

const sums = {
  attempts: z.int(),
  refused: z.int(),
  answered: z.int(),
  talkSeconds: z.int(),
  outcomes: tally,
};

export const reportView = z.object({
  campaign: z.object({ id: z.string(), name: z.string(), bot: z.string(), profile: z.string(), state: z.string() }),
  /** Whose clock days and hours are on. */
  zone: z.string(),
  contacts: contactCounts,
  attempts: z.object(sums),
  refusals: z.record(z.string(), z.int()),
  days: z.array(z.object({ day: z.string(), ...sums })),
  hours: z.array(z.object({ hour: z.int(), ...sums })),
  bots: z.array(z.object({ bot: z.string(), ...sums })),
  callerIds: z.array(z.object({ callerId: z.string(), ...sums })),
  rows: z.array(
    z.object({
      day: z.string(),
      hour: z.int(),
      bot: z.string(),
      callerId: z.string(),
      outcome: z.string(),
      calls: z.int(),
      answered: z.int(),
      talkSeconds: z.int(),
    }),
  ),
});
