import type { CampaignContact, LeasedContact } from '../records/campaigns.ts';
import type { Campaign, CampaignSettings } from './campaign.ts';
import type { DialRequest } from './dialling.ts';
import { opensAt } from './gate/may-dial.ts';
import type { DiallingProfile } from './gate/profile.ts';
import { type NumberZones, readNumber, recipientZones } from './number.ts';

/** Tells the dialog that a message was left before, so that the bot leaves no second one. */
const MESSAGE_LEFT = 'message_left';

/** All zones that a contact may be in; empty: unknown. */
export function zonesOf(
  contact: Pick<CampaignContact, 'number' | 'zone'>,
  { defaultZone, zoneSource }: Pick<CampaignSettings, 'defaultZone' | 'zoneSource'>,
  zones: NumberZones,
): readonly string[] {
  const number = readNumber(contact.number);
  return 'e164' in number ? recipientZones(number, zones, contact.zone ?? defaultZone, zoneSource === 'given') : [];
}

/**
 * The earliest moment at which the hours of a contact are open. For planning alone: the gate refuses, and logs, what never opens, and
 * what is promised for a time.
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

/** What the gate is asked about a contact. */
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
