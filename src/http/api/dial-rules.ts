import type { Settings } from '../../config/schema.ts';
import { RequestRefused } from '../problem.ts';
import type { Principal } from './system/api-keys.ts';

/** Dialling rules: the profile, and whether a contact's given zone counts alone. */
type DialRules = Pick<Settings['dialling'], 'profile' | 'zoneSource'>;

/** Whether the client may choose the rules of a call or campaign, instead of those in the settings. */
export function mayChooseRules({ scopes }: Pick<Principal, 'scopes'>): boolean {
  return scopes.includes('dialling:rules');
}

/**
 * The rules of a call or campaign.
 * @param wanted rules in the request; absent ones come from the settings
 * @throws RequestRefused 403 for rules other than the settings', without the scope
 */
export function rulesOf(
  settings: DialRules,
  principal: Pick<Principal, 'scopes'>,
  wanted: { readonly [Rule in keyof DialRules]?: DialRules[Rule] | undefined },
): DialRules {
  const rules = { profile: wanted.profile ?? settings.profile, zoneSource: wanted.zoneSource ?? settings.zoneSource };
  const others = (['profile', 'zoneSource'] as const).filter((rule) => rules[rule] !== settings[rule]);
  if (others.length === 0 || mayChooseRules(principal)) return rules;
  const named = others.map((rule) => `dialling.${rule} is ${settings[rule]}`).join(' and ');
  throw new RequestRefused(403, `The rules of calls are set: ${named}. Choosing others requires the scope dialling:rules.`);
}
