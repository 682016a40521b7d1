import type { CampaignContact, LeasedContact } from '../records/campaigns.ts';
import type { Campaign, CampaignSettings } from './campaign.ts';
import type { DialRequest } from './dialling.ts';
import { opensAt } from './gate/may-dial.ts';
import type { DiallingProfile } from './gate/profile.ts';
import { type NumberZones, readNumber, recipientZones } from './number.ts';

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
