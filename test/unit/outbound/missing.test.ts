import { fileURLToPath } from 'node:url';
import { expect, it, test } from 'vitest';
import { campaignSettings, type WrittenSettings } from '../../../src/outbound/campaign.ts';
import { loadDiallingProfile, SHIPPED_PROFILES } from '../../../src/outbound/gate/profile.ts';
import { type CampaignMeans, missingOf } from '../../../src/outbound/missing.ts';
import { readCallerIds } from '../../../src/config/caller-ids.ts';

const folder = fileURLToPath(new URL('../../../config/dialling', import.meta.url));
const profiles = await Promise.all(SHIPPED_PROFILES.map((name) => loadDiallingProfile(folder, name)));

const NOW = Date.parse('2026-03-02T10:00:00Z');
const now = { tenantId: 'default', contacts: 3, lists: { national: NOW - 1000, preferences: NOW - 1000 }, atMs: NOW };
const means: CampaignMeans = {
  bots: ['reminder'],
  profiles: { names: [...SHIPPED_PROFILES], named: (name) => profiles.find((each) => each.name === name) },
  callerIds: readCallerIds('+12125550100@twilio, +911600*, +91140*').callerIds,
  carriers: ['twilio'],
  carrier: undefined,
  missingFor: () => [],
};
const campaign = (more: Partial<WrittenSettings>) =>
  campaignSettings.parse({ name: 'March', bot: 'reminder', from: '+12125550100', profile: 'none', ...more });
const ids = { entityId: '1', telemarketerId: '2', templateId: '3' };
const named = (...args: Parameters<typeof missingOf>): string[] => missingOf(...args).map(({ missing }) => missing);

test.each([
  { note: 'no rules', settings: {} },
  { note: 'service calls in the United States', settings: { profile: 'us', purpose: 'service' } },
  { note: 'service calls in India', settings: { profile: 'in', purpose: 'service', from: '+911600123456', registrations: ids } },
] as const)('nothing is missing for $note', ({ settings }) => expect(missingOf(campaign(settings), means, now)).toEqual([]));

test.each<{ note: string; settings?: Partial<WrittenSettings>; has?: Partial<CampaignMeans>; since?: object; missing: string[] }>(
  [
    { note: 'a bot that there is not', settings: { bot: 'remindr' }, missing: ['bot-unknown'] },
    { note: 'a profile that there is not', settings: { profile: 'uk' }, missing: ['profile-unknown'] },
    { note: "a caller id that is not the tenant's", settings: { from: '+12125550199' }, missing: ['caller-id-not-allowed'] },
    { note: 'no account', has: { carriers: [] }, missing: ['carrier-account-missing'] },
    {
      note: 'two accounts and no choice',
      settings: { from: '+911600123456' },
      has: { carriers: ['twilio', 'vonage'] },
      missing: ['carrier-account-missing'],
    },
    {
      note: 'an account of another carrier',
      settings: { carrier: 'vonage' },
      missing: ['carrier-account-missing', 'caller-id-not-allowed'],
    },
    { note: 'no contacts', since: { contacts: 0 }, missing: ['contacts-missing'] },
    { note: 'no purpose', settings: { profile: 'in', from: '+911600123456' }, missing: ['purpose-missing'] },
    {
      note: 'no registrations and the wrong series',
      settings: { profile: 'in', purpose: 'promotional', from: '+911600123456', registrations: { entityId: '1' } },
      missing: ['purpose-missing', 'purpose-missing', 'caller-id-not-allowed'],
    },
    {
      note: 'neither name nor number of the business',
      settings: { profile: 'us', purpose: 'service' },
      has: {
        missingFor: (bot, duties) =>
          bot === 'reminder' && duties.some(({ duty }) => duty === 'say-identity-first') ? ['a name', 'a number'] : [],
      },
      missing: ['identity-missing', 'identity-missing'],
    },
    {
      note: 'a list that is too old',
      settings: { profile: 'us', purpose: 'promotional' },
      since: { lists: {} },
      missing: ['list-too-old'],
    },
  ],
)('$note is named before the first call', ({ settings = {}, has = {}, since = {}, missing }) => {
  expect(named(campaign(settings), { ...means, ...has }, { ...now, ...since })).toEqual(missing);
});

it('names each thing once, whichever caller id lacks it, and says where it belongs', () => {
  const two = campaign({ from: ['+12125550198', '+12125550199'], bot: 'remindr' });
  expect(missingOf(two, means, now)).toEqual([
    { missing: 'bot-unknown', detail: 'there is no bot remindr; there are reminder' },
    { missing: 'caller-id-not-allowed', detail: '+12125550198 is not among dialling.callerIds (OFFHOOK_DIALLING__CALLER_IDS)' },
    { missing: 'caller-id-not-allowed', detail: '+12125550199 is not among dialling.callerIds (OFFHOOK_DIALLING__CALLER_IDS)' },
  ]);
});
