import { diallingDestinations, DiallingProfiles } from '../../outbound/profiles.ts';
import { DialPrices } from '../../outbound/prices.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { DEFAULT_TENANT } from '../../config/tenant-id.ts';
import type { Check } from './check.ts';

/** Says which numbers calls may go to, and what holds them. Nothing can fail that the check of the configuration does not name. */
export function destinationsCheck({ settings, tenants }: Pick<LoadedConfig, 'settings' | 'tenants'>): Check {
  const { dialling } = settings;
  return {
    name: 'destinations',
    advice: 'correct dialling.destinations, dialling.profile or dialling.prices',
    async run() {
      const destinationsOf = diallingDestinations(settings, tenants, await DiallingProfiles.load(dialling.folder));
      const { size } = DialPrices.load(dialling.prices);
      const { text } = destinationsOf(DEFAULT_TENANT);
      const where =
        text === 'none' ? 'calls go nowhere (no caller id), transfers to the country of the line' : `calls go to ${text}`;
      const ceilings = `at most ${dialling.callsPerDay} calls a day, ${dialling.callsPerDayOfKey} for one key`;
      const cost = size === 0 ? 'no prices, so that no ceiling of cost holds' : `prices of ${size} prefixes`;
      return { ok: true, detail: `${where}; ${ceilings}; ${cost}` };
    },
  };
}
