import { callerIdOf } from '../config/caller-ids.ts';
import { type PlacingMeans, wantedAccount } from '../config/tenants.ts';
import type { CampaignSettings } from './campaign.ts';
import type { DialFacts } from './gate/facts.ts';
import { mayDial } from './gate/may-dial.ts';
import { type DiallingProfile, type Duty, holdsFor } from './gate/profile.ts';

/** Requirements a campaign may lack before its first call. */
export type MissingName =
  | 'bot-unknown'
  | 'profile-unknown'
  | 'carrier-account-missing'
  | 'identity-missing'
  | 'contacts-missing'
  // The dial gate would refuse every call.
  | 'purpose-missing'
  | 'caller-id-not-allowed'
  | 'list-too-old';

export interface Missing {
  readonly missing: MissingName;
  /** For people: the missing item, and where to set it. */
  readonly detail: string;
}

/** Resources of a campaign. */
export interface CampaignMeans extends PlacingMeans {
  readonly bots: readonly string[];
  readonly profiles: { readonly named: (name: string) => DiallingProfile | undefined; readonly names: readonly string[] };
  /** Duties the bot's calls cannot meet, one sentence each. */
  readonly missingFor: (bot: string, duties: readonly Duty[]) => readonly string[];
}

/** Refusals that apply to every contact at any time. */
const OF_CAMPAIGN = ['purpose-missing', 'caller-id-not-allowed', 'list-too-old'] as const;

/**
 * Everything a campaign lacks, so that it can be fixed at once.
 * @param now.lists when each list was obtained
 */
export function missingOf(
  settings: CampaignSettings,
  means: CampaignMeans,
  now: {
    readonly tenantId: string;
    readonly contacts: number;
    readonly lists: Readonly<Record<string, number>>;
    readonly atMs: number;
  },
): Missing[] {
  const missing: Missing[] = [];
  const add = (name: MissingName, detail: string): void => {
    if (!missing.some((each) => each.missing === name && each.detail === detail)) missing.push({ missing: name, detail });
  };
  const { bots, carriers } = means;
  if (!bots.includes(settings.bot)) add('bot-unknown', `there is no bot ${settings.bot}; there are ${bots.join(', ') || 'none'}`);
  const profile = means.profiles.named(settings.profile);
  if (profile === undefined) {
    add('profile-unknown', `there is no dialling profile ${settings.profile}; there are ${means.profiles.names.join(', ')}`);
  }
  for (const from of settings.from) {
    const carrier = wantedAccount(means, { tenantId: now.tenantId, carrier: settings.carrier, from });
    const problem = carrierProblem(carrier, carriers);
    if (problem !== undefined) add('carrier-account-missing', problem);
    const callerId = { number: from, isOwn: callerIdOf(means.callerIds, from, carrier) !== undefined };
    if (!callerId.isOwn) {
      add('caller-id-not-allowed', `${from} is not among dialling.callerIds (OFFHOOK_DIALLING__CALLER_IDS)`);
    }
    if (profile === undefined) continue;
    for (const [name, detail] of refusedAlways(settings, profile, { ...callerId, isOwn: true }, now)) add(name, detail);
  }
  const duties = profile?.duties.filter((each) => holdsFor(each, settings.purpose)) ?? [];
  for (const detail of means.missingFor(settings.bot, duties)) add('identity-missing', detail);
  if (now.contacts === 0) add('contacts-missing', 'the campaign has no contacts');
  return missing;
}

function carrierProblem(wanted: string | undefined, carriers: readonly string[]): string | undefined {
  if (carriers.length === 0) return 'no carrier has an account that can place calls';
  if (wanted !== undefined && !carriers.includes(wanted)) {
    return `the carrier ${wanted} has no account that can place calls; ${carriers.join(', ')} has one`;
  }
  return wanted === undefined && carriers.length > 1
    ? `several carriers have an account (${carriers.join(', ')}): the campaign or dialling.carrier names one`
    : undefined;
}

/** The gate's refusals for every number. */
function refusedAlways(
  { purpose, registrations }: CampaignSettings,
  profile: DiallingProfile,
  callerId: { readonly number: string; readonly isOwn: boolean },
  { lists, atMs }: { readonly lists: Readonly<Record<string, number>>; readonly atMs: number },
): [(typeof OF_CAMPAIGN)[number], string][] {
  const facts: DialFacts = {
    tenantId: '',
    nowMs: atMs,
    number: { reason: 'nobody is called' },
    destinationRefusal: undefined,
    day: { endsAtMs: atMs, costMicros: undefined, spent: [] },
    zones: [],
    purpose,
    registrations,
    consents: [],
    suppressions: [],
    lists,
    callerId,
    campaignId: undefined,
    attemptsMs: [],
    attemptsInCampaign: 0,
    narrowing: [],
    callBack: undefined,
  };
  const decision = mayDial(facts, profile);
  const all = decision.allowed ? [] : decision.refusals;
  // Without a purpose the rules of all purposes apply, including irrelevant ones.
  const unnamed = purpose === undefined ? all.filter(({ refusal }) => refusal === 'purpose-missing') : [];
  const refusals = unnamed.length > 0 ? unnamed : all;
  return refusals.flatMap(({ refusal, detail }) =>
    OF_CAMPAIGN.flatMap((name): [(typeof OF_CAMPAIGN)[number], string][] =>
      name === refusal ? [[name, name === 'caller-id-not-allowed' ? `${callerId.number}: ${detail}` : detail]] : [],
    ),
  );
}
