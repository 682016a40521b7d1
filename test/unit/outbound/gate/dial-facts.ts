import { fileURLToPath } from 'node:url';
import type { DialFacts } from '../../../../src/outbound/gate/facts.ts';
import { loadDiallingProfile, parseProfile, timingRulesSchema } from '../../../../src/outbound/gate/profile.ts';
import { NumberZones, readNumber, recipientZones } from '../../../../src/outbound/number.ts';

export const DIALLING_FOLDER = fileURLToPath(new URL('../../../../config/dialling', import.meta.url));
export const numberZones = NumberZones.load(`${DIALLING_FOLDER}/number-zones.json`);
export const profiles = {
  in: await loadDiallingProfile(DIALLING_FOLDER, 'in'),
  us: await loadDiallingProfile(DIALLING_FOLDER, 'us'),
  eu: await loadDiallingProfile(DIALLING_FOLDER, 'eu'),
  none: await loadDiallingProfile(DIALLING_FOLDER, 'none'),
};
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A number that each profile may dial at noon there, on Tuesday 3 March 2026. */
const PEOPLE = {
  in: { number: '+919876543210', callerId: '+911401234567', nowMs: Date.UTC(2026, 2, 3, 6, 30) },
  us: { number: '+12127365000', callerId: '+12125550100', nowMs: Date.UTC(2026, 2, 3, 17) },
  eu: { number: '+4915112345678', callerId: '+49301234567', nowMs: Date.UTC(2026, 2, 3, 11) },
  none: { number: '+442079460000', callerId: '+442079460001', nowMs: Date.UTC(2026, 2, 3, 12) },
};

export function numberFacts(number: string, zone?: string): Pick<DialFacts, 'number' | 'zones'> {
  const read = readNumber(number);
  return { number: read, zones: 'e164' in read ? recipientZones(read, numberZones, zone, true) : [] };
}

/** Facts of a promotional call that the profile allows. */
export function allowedFacts(profile: keyof typeof PEOPLE, changes: Partial<DialFacts> = {}): DialFacts {
  const { number, callerId, nowMs } = PEOPLE[profile];
  return {
    tenantId: 'default',
    nowMs,
    ...numberFacts(number),
    destinationRefusal: undefined,
    day: { endsAtMs: nowMs + HOUR_MS, costMicros: undefined, spent: [] },
    purpose: 'promotional',
    registrations: { entityId: '1101', telemarketerId: '1202', templateId: '1303' },
    consents: [
      {
        id: 'consent-1',
        level: 'written',
        purposes: ['promotional', 'service', 'transactional', 'government'],
        givenAtMs: nowMs - 30 * DAY_MS,
        expiresAtMs: nowMs + 30 * DAY_MS,
        evidence: 'form 17',
        registeredId: 'dlt-1',
      },
    ],
    suppressions: [],
    lists: { national: nowMs - DAY_MS, preferences: nowMs - HOUR_MS },
    callerId: { number: callerId, isOwn: true },
    campaignId: 'campaign-1',
    attemptsMs: [],
    attemptsInCampaign: 0,
    narrowing: [],
    callBack: undefined,
    ...changes,
  };
}

/** Rules that a campaign sets, as JSON of what a file would say. */
export function campaignRules(rules: object): DialFacts['narrowing'] {
  return [{ name: 'campaign', rules: timingRulesSchema.parse(rules) }];
}

/** A profile that has nothing but these rules. */
export function profileOf(rules: object): ReturnType<typeof parseProfile> {
  const document = {
    name: 'test',
    notice: 'a profile that exists in this test only',
    purposes: ['promotional', 'service', 'transactional', 'government'],
    lineTypes: { allowed: ['mobile', 'fixed-line', 'fixed-line-or-mobile', 'voip'], source: 'test' },
    ...rules,
  };
  return parseProfile(JSON.stringify(document), 'test.yaml');
}
