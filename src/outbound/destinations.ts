import { destinationsOf, type DestinationsOf } from '../config/destinations.ts';
import type { Settings } from '../config/schema.ts';
import { placingMeans, type Tenant } from '../config/tenants.ts';
import type { DiallingProfiles } from './profiles.ts';

/**
 * Where the calls of each tenant may go, and whom its callers may be connected to.
 * @param profiles those whose countries count, where they could be read
 */
export function diallingDestinations(
  settings: Pick<Settings, 'dialling'>,
  tenants: readonly Tenant[],
  profiles: Pick<DiallingProfiles, 'named'> | undefined,
): DestinationsOf {
  const { destinations, profile } = settings.dialling;
  const numbersOf = placingMeans(settings, tenants, []);
  return destinationsOf(destinations, (tenantId) => numbersOf(tenantId).callerIds, profiles?.named(profile)?.countries);
}
