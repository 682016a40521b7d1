import { z } from 'zod';
import { campaignSettings, type Campaign } from '../../../outbound/campaign.ts';
import {
  CAMPAIGN_CHANGERS,
  CONTACT_STATES,
  type CampaignContact,
  type CampaignCounts,
  CAMPAIGN_STATES,
} from '../../../records/campaigns.ts';
import type { CampaignProgress } from '../../../outbound/progress.ts';
import { DISPOSITIONS, PURPOSES } from '../../../records/dialling.ts';
import { maskDigits } from '../../../records/privacy/mask-number.ts';
import type { Principal } from '../system/api-keys.ts';
import { isoTime, maskedEntries, numbersFor, optionalTime, textsFor, viewOf } from '../views.ts';
import type { ContactProblem } from '../../../outbound/contacts/import-contacts.ts';
import { UploadedFile } from '../calls/upload.ts';

const wallTime = z.iso.datetime();
const disposition = z.enum(DISPOSITIONS);
const tally = z.partialRecord(z.enum([...DISPOSITIONS, 'under-way']), z.int());

/** A campaign as written by its owner; absent fields have defaults. */
export const campaignBody = campaignSettings;

export const campaignView = z.object({
  id: z.string(),
  name: z.string(),
  bot: z.string(),
  /** The tenant's own numbers, unmasked. */
  from: z.array(z.string()),
  profile: z.string(),
  purpose: z.string().nullable(),
  state: z.enum(CAMPAIGN_STATES),
  /** Why it was paused or stopped. */
  reason: z.string().nullable(),
  /** Author of the last change of state: a person, the breaker, or the gateway where no call can be placed; null where it was not recorded. */
  changedBy: z.enum(CAMPAIGN_CHANGERS).nullable(),
  /** As configured; carrier account and caller id may allow less. */
  callsPerSecond: z.number(),
  concurrency: z.int(),
  createdAt: wallTime,
  startedAt: wallTime.nullable(),
  changedAt: wallTime,
  endedAt: wallTime.nullable(),
  /** When its contacts' numbers and variables were destroyed. */
  erasedAt: wallTime.nullable(),
});

const contactCounts = z.object({
  total: z.int(),
  states: z.record(z.enum(CONTACT_STATES), z.int()),
  /** Results of finished contacts. */
  outcomes: tally,
});

export const campaignItemView = campaignView.extend({
  contacts: contactCounts,
  /** Calls placed within the last minute. */
  placedLastMinute: z.int(),
  /** When the next waiting contact may be called; running campaigns only. */
  nextDueAt: wallTime.nullable(),
});

export const campaignDetailView = campaignView.extend({
  contacts: contactCounts,
  /** What it lacks for its first call; empty once it may start. */
  missing: z.array(z.object({ missing: z.string(), detail: z.string() })),
  /** All settings, defaults included. */
  settings: z.unknown(),
});

export function viewOfCampaign({ settings, ...campaign }: Campaign): z.output<typeof campaignView> {
  return viewOf(campaignView, { ...settings, ...campaign }, { from: [...settings.from] });
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
  /** When it may be called next; null once finished. */
  dueAt: wallTime.nullable(),
  attempts: z.int(),
  outcomes: tally,
  /** Result of its last call, or of the finished contact. */
  disposition: disposition.nullable(),
  /** The name of a refusal, or the carrier's word for a failure. */
  cause: z.string().nullable(),
  lastAttemptId: z.string().nullable(),
  /** When the person asked to be called back. */
  callBackAt: wallTime.nullable(),
});

export function viewOfContact(contact: CampaignContact, key: Pick<Principal, 'scopes'>): z.output<typeof contactView> {
  const { number, variables, state, dueAtMs } = contact;
  return viewOf(contactView, contact, {
    number: numbersFor(key)(number),
    variables: maskedEntries(variables, textsFor([number], key)),
    dueAt: state === 'done' ? null : isoTime(dueAtMs),
  });
}

const text = z.string().max(2000);

/** A list of contacts, or a file. */
export const contactsBody = z.union(
  [
    z.strictObject({
      contacts: z
        .array(
          z.strictObject({
            /** International, or national in the request's region. */
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

export const rowProblemView = z.object({
  /** Lines of a file include its header; list positions start at 1. */
  line: z.int(),
  reason: z.string(),
  /** For a bad cell: its column, first 80 characters, and what is accepted. */
  column: z.string().optional(),
  /** Masked without the scope `numbers:read`. */
  value: z.string().optional(),
  accepted: z.string().optional(),
});

export function viewOfProblem(problem: ContactProblem, { scopes }: Pick<Principal, 'scopes'>): z.output<typeof rowProblemView> {
  if (scopes.includes('numbers:read')) return problem;
  const { reason, value } = problem;
  return { ...problem, reason: maskDigits(reason), ...(value === undefined ? {} : { value: maskDigits(value) }) };
}

/** Result of an import. */
export const importView = z.object({
  rows: z.int(),
  added: z.int(),
  /** Numbers the campaign already had; left unchanged. */
  known: z.int(),
  duplicates: z.int(),
  refused: z.int(),
  /** The first 1,000 duplicates and refused rows. */
  problems: z.array(rowProblemView).readonly(),
  /** For a dry run: the meaning of the columns, and the first contacts. */
  preview: z
    .object({
      columns: z.array(
        z.object({
          column: z.string(),
          becomes: z.enum(['number', 'zone', 'variable', 'nothing']),
          variable: z.string().optional(),
        }),
      ),
      contacts: z.array(
        z.object({ line: z.int(), number: z.string(), zone: z.string().nullable(), variables: z.record(z.string(), z.string()) }),
      ),
    })
    .optional(),
});

/** Result for the campaign's calls. `left`: more remain, repeat the request. */
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
  /** Time zone of days and hours. */
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

const steps = z.array(z.int()).readonly();

/** Everything that changes while a campaign runs. */
export const progressView = z.object({
  campaign: campaignView,
  contacts: contactCounts,
  /** Time of counting: up to a second ago, or ten times the duration of counting. */
  countedAt: wallTime,
  /** When the next waiting contact may be called; running campaigns only. */
  nextDueAt: wallTime.nullable(),
  /** People, each counted once: called, answered by any party, and spoken to. */
  reached: z.object({ called: z.int(), answered: z.int(), person: z.int() }),
  /** Refusals of the dial gate, by name. */
  refusals: z.record(z.string(), z.int()),
  /** Waiting contacts, by the latest reason for the delay. */
  putOff: z.record(z.string(), z.int()),
  /** Calls by time: the last hour of a running campaign, all of an ended one. */
  pace: z.object({ from: wallTime, everySeconds: z.int(), placed: steps, answered: steps }),
});

export function viewOfProgress(campaign: Campaign, progress: CampaignProgress): z.output<typeof progressView> {
  const { atMs, counts, reach, nextDueAtMs, pace } = progress;
  const { refusals, putOff, ...reached } = reach;
  return {
    campaign: viewOfCampaign(campaign),
    contacts: viewOfCounts(counts),
    countedAt: isoTime(atMs),
    nextDueAt: optionalTime(nextDueAtMs),
    reached,
    refusals,
    putOff,
    pace: { from: isoTime(pace.fromMs), everySeconds: pace.everyMs / 1000, placed: pace.placed, answered: pace.answered },
  };
}

/** Which contacts may be called when, by hours and holidays. */
export const hoursView = z.object({
  from: wallTime,
  stepMinutes: z.int(),
  /** Contacts examined, of the unfinished ones. */
  sampled: z.int(),
  open: z.int(),
  rows: z.array(
    z.object({
      /** All of them must be open; empty: unknown, and the gate refuses. */
      zones: z.array(z.string()).readonly(),
      /** Rules of the profile for some countries or states. */
      overlays: z.array(z.string()).readonly(),
      contacts: z.int(),
      /** One character for each step: `1` for open, `0` for closed. */
      steps: z.string(),
      isOpen: z.boolean(),
      opensAt: wallTime.nullable(),
    }),
  ),
});

const hours = z.array(z.object({ days: z.array(z.string()).readonly(), from: z.string(), to: z.string() }));

export const choicesView = z.object({
  bots: z.array(z.string()).readonly(),
  callerIds: z.array(
    z.object({
      /** E.164; for a series, the prefix of its numbers. */
      number: z.string(),
      isSeries: z.boolean(),
      carrier: z.string().nullable(),
    }),
  ),
  carriers: z.array(z.string()).readonly(),
  profiles: z.array(
    z.object({
      name: z.string(),
      notice: z.string(),
      countries: z.array(z.string()).nullable(),
      purposes: z.array(z.enum(PURPOSES)).readonly(),
      purposeRequired: z.boolean(),
      /** Registration ids that a campaign of these purposes must name; of every purpose when empty. */
      registrations: z.array(z.object({ name: z.string(), purposes: z.array(z.enum(PURPOSES)).nullable() })),
      windows: z.array(z.object({ purposes: z.array(z.enum(PURPOSES)).nullable(), hours, source: z.string() })),
    }),
  ),
  defaults: z.object({ profile: z.string(), region: z.string().nullable() }),
  /** Limits of one carrier account. */
  most: z.object({ callsPerSecond: z.number(), concurrency: z.int().nullable() }),
  /** Default times of the next call after an outcome. */
  retries: z.record(z.string(), z.object({ afterMinutes: z.array(z.number()), most: z.int() })),
  /** JSON Schema of the body of `POST /api/campaigns`. */
  schema: z.unknown(),
});

/** A decision of the gate. */
export const decisionView = z.object({
  at: wallTime,
  allowed: z.boolean(),
  refusals: z.array(z.string()).readonly(),
  /** The first refusal's rule and its source. */
  detail: z.string().nullable(),
  retryAt: wallTime.nullable(),
  profile: z.string(),
  overlays: z.array(z.string()).readonly(),
  /** Local time in the person's zones. */
  local: z.array(z.object({ zone: z.string(), time: z.string() })).readonly(),
});
