import type { Settings } from '../../config/schema.ts';
import { RequestRefused } from '../problem.ts';
import type { Principal } from './system/api-keys.ts';

/** By which rules people are called: under which profile, and whether a zone that comes with a contact counts alone. */
type DialRules = Pick<Settings['dialling'], 'profile' | 'zoneSource'>;

/** Whether somebody may choose the rules of a call or campaign, which the settings give to everybody else. */
export function mayChooseRules({ scopes }: Pick<Principal, 'scopes'>): boolean {
  return scopes.includes('dialling:rules');
}

/**
 * The rules of a call or campaign.
 * @param wanted what the request names; absent rules are those of the settings
 * @throws RequestRefused 403 for others than those of the settings, without the scope for it
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
  throw new RequestRefused(403, `The rules of calls are set: ${named}. Whoever chooses others needs the scope dialling:rules.`);
}
