import type { NarrowingRules } from './gate/facts.ts';
import { opensAt, overlaysOf } from './gate/may-dial.ts';
import type { DiallingProfile } from './gate/profile.ts';
import { type DialNumber, type NumberZones, readNumber, recipientZones } from './number.ts';
import type { Purpose } from '../records/dialling.ts';
import type { CampaignContact, LeasedContact } from '../records/campaigns.ts';
import type { Campaign, CampaignSettings } from './campaign.ts';
import type { DialRequest } from './dialling.ts';

/** The facts that a contact's hours depend on. */
export interface Callee {
  readonly number: DialNumber;
  /** Possible zones; empty: unknown. */
  readonly zones: readonly string[];
}

/** Contacts with the same calling hours. */
export interface HoursRow {
  readonly zones: readonly string[];
  /** Applicable overlays of the profile, such as a state's. */
  readonly overlays: readonly string[];
  readonly contacts: number;
  /** Whether they may be called at the start of each step. */
  readonly open: readonly boolean[];
  /** Whether they may be called now. */
  readonly isOpen: boolean;
  /** Next time they may be called; undefined with an unknown zone, or without open hours within a year. */
  readonly opensAtMs: number | undefined;
}

export interface HoursQuestion {
  readonly nowMs: number;
  readonly fromMs: number;
  readonly stepMs: number;
  readonly steps: number;
}

/**
 * When contacts may be called, by the hours and holidays of the profile, its overlays and the campaign; caps, lists and consent are ignored.
 * @returns one row for each set of zones and overlays, the largest first
 */
export function callingHours(
  people: readonly Callee[],
  rules: {
    readonly profile: DiallingProfile;
    readonly purpose: Purpose | undefined;
    readonly narrowing: readonly NarrowingRules[];
  },
  { nowMs, fromMs, stepMs, steps }: HoursQuestion,
): HoursRow[] {
  const groups = new Map<string, { readonly callee: Callee; readonly overlays: readonly string[]; contacts: number }>();
  for (const callee of people) {
    const overlays = overlaysOf(callee.number.e164, callee.number.country, rules.profile).map(({ name }) => name);
    const key = JSON.stringify([callee.zones, overlays]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { callee, overlays, contacts: 1 });
    else known.contacts += 1;
  }
  const rows = [...groups.values()].map(({ callee, overlays, contacts }): HoursRow => {
    const { number, zones } = callee;
    // The gate refuses contacts without a known zone.
    const opens = (atMs: number): number | undefined =>
      zones.length === 0
        ? undefined
        : opensAt({ nowMs: atMs, number, zones, purpose: rules.purpose, narrowing: rules.narrowing }, rules.profile);
    const opensAtMs = opens(nowMs);
    return {
      zones,
      overlays,
      contacts,
      open: openSteps(opens, { fromMs, stepMs, steps }),
      isOpen: opensAtMs === nowMs,
      opensAtMs,
    };
  });
  return rows.sort((one, other) => other.contacts - one.contacts);
}

function openSteps(
  opens: (atMs: number) => number | undefined,
  { fromMs, stepMs, steps }: Pick<HoursQuestion, 'fromMs' | 'stepMs' | 'steps'>,
): boolean[] {
  let nextMs = -Infinity;
  return Array.from({ length: steps }, (_, step) => {
    const atMs = fromMs + step * stepMs;
    if (atMs < nextMs) return false;
    nextMs = opens(atMs) ?? Infinity;
    return nextMs === atMs;
  });
}

/** Variable that tells the dialog of an earlier message, so that the bot does not leave another. */
const MESSAGE_LEFT = 'message_left';

/** Possible zones of a contact; empty: unknown. */
export function zonesOf(
  contact: Pick<CampaignContact, 'number' | 'zone'>,
  { defaultZone, zoneSource }: Pick<CampaignSettings, 'defaultZone' | 'zoneSource'>,
  zones: NumberZones,
): readonly string[] {
  const number = readNumber(contact.number);
  return 'e164' in number ? recipientZones(number, zones, contact.zone ?? defaultZone, zoneSource === 'given') : [];
}

/**
 * The earliest moment within a contact's hours. For planning only: the gate refuses and logs contacts whose hours never open, and handles promised
 * calls.
 */
export function opensFor(
  contact: CampaignContact,
  { settings }: Campaign,
  profile: DiallingProfile,
  zones: NumberZones,
  nowMs: number,
): number {
  const number = readNumber(contact.number);
  if (!('e164' in number) || contact.callBackAtMs !== undefined) return nowMs;
  const facts = { nowMs, number, zones: zonesOf(contact, settings, zones), purpose: settings.purpose };
  return opensAt({ ...facts, narrowing: narrowingOf(settings) }, profile) ?? nowMs;
}

export function narrowingOf({ narrowing }: CampaignSettings): DialRequest['narrowing'] {
  return [{ name: 'campaign', rules: narrowing }];
}

/** The gate's request for a contact. */
export function requestOf({ tenantId, id, settings, createdBy }: Campaign, contact: LeasedContact): DialRequest {
  const { bot: botName, carrier, profile, purpose, registrations, ringTimeoutMs, metadata, defaultZone, zoneSource } = settings;
  return {
    tenantId,
    to: contact.number,
    from: contact.from,
    botName,
    carrier,
    variables: { ...contact.variables, ...(contact.messageLeft ? { [MESSAGE_LEFT]: 'yes' } : {}) },
    metadata,
    ringTimeoutMs,
    profile,
    purpose,
    registrations,
    zone: contact.zone ?? defaultZone,
    zoneAlone: zoneSource === 'given',
    askedBy: createdBy,
    narrowing: narrowingOf(settings),
    callBackAtMs: contact.callBackAtMs,
    campaign: { id, contactId: contact.id, index: contact.attempts + 1 },
  };
}
