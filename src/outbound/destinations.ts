import { destinationsOf, type DestinationsOf } from '../config/destinations.ts';
import type { Settings } from '../config/schema.ts';
import { placingMeans, type Tenant } from '../config/tenants.ts';
import type { DiallingProfiles } from './profiles.ts';

/**
 * Allowed call and transfer destinations, by tenant.
 * @param profiles whose countries apply, where readable
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
