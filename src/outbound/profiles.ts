import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasCode } from '../kernel/errors.ts';
import { type DiallingProfile, DiallingProfileError, loadDiallingProfile, SHIPPED_PROFILES } from './gate/profile.ts';
import { destinationsOf, type DestinationsOf } from '../config/destinations.ts';
import type { Settings } from '../config/schema.ts';
import { placingMeans, type Tenant } from '../config/tenants.ts';

/** `config/dialling` of the package, for compiled and source files. */
export const SHIPPED_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../config/dialling');

/** Dialling profiles by name: those of a folder, completed by the shipped ones. */
export class DiallingProfiles {
  readonly #byName: ReadonlyMap<string, DiallingProfile>;

  private constructor(profiles: readonly DiallingProfile[]) {
    this.#byName = new Map(profiles.map((profile) => [profile.name, profile]));
  }

  /**
   * Reads every `*.yaml` of a folder, which may not exist, and the shipped profiles.
   * @throws DiallingProfileError with every problem of the first bad file
   */
  static async load(folder: string): Promise<DiallingProfiles> {
    const files = await readdir(folder).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return [];
      throw new DiallingProfileError(folder, [{ key: folder, where: folder, message: `cannot be read: ${String(error)}` }]);
    });
    const own = files.filter((file) => file.endsWith('.yaml')).map((file) => file.slice(0, -'.yaml'.length));
    const profiles: DiallingProfile[] = [];
    for (const name of new Set([...own.sort(), ...SHIPPED_PROFILES])) {
      const profile = await loadDiallingProfile(own.includes(name) ? folder : SHIPPED_FOLDER, name);
      if (profile.name !== name) {
        const path = join(folder, `${name}.yaml`);
        const message = `the file ${name}.yaml has a profile of another name`;
        throw new DiallingProfileError(path, [{ key: 'name', where: path, value: profile.name, message }]);
      }
      profiles.push(profile);
    }
    return new DiallingProfiles(profiles);
  }

  named(name: string): DiallingProfile | undefined {
    return this.#byName.get(name);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }
}

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
