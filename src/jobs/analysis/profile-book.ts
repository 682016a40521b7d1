import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../config/env.ts';
import { AnalysisProfileError } from './errors.ts';
import { FieldModel } from './model-fields.ts';
import { analysisProfile } from './profile.ts';
import { type LoadedProfile, loadProfile, profileHash } from './profile-file.ts';

/** A profile with what it needs to be carried out. */
export interface PreparedProfile {
  readonly loaded: LoadedProfile;
  readonly model: FieldModel | undefined;
}

export const DEFAULT_PROFILE = 'default';

/** The profiles of a folder, by name and by bot. */
export class ProfileBook {
  readonly #byName: ReadonlyMap<string, PreparedProfile>;

  private constructor(profiles: readonly PreparedProfile[]) {
    this.#byName = new Map(profiles.map((each) => [each.loaded.profile.name, each]));
  }

  /** A book that holds nothing but a profile that asks for nothing: transcript and measures. */
  static plain(): ProfileBook {
    return new ProfileBook([plainProfile()]);
  }

  /**
   * Reads every `*.yaml` and `*.yml` of a folder. A `default` profile that is not there asks for nothing.
   * @param env where the models' secrets are looked up
   * @throws AnalysisProfileError with every problem of the first file that has any, or for two profiles that claim the same
   */
  static async load(folder: string, env: Environment): Promise<ProfileBook> {
    const names = await readdir(folder).catch((cause: unknown): never => {
      throw new AnalysisProfileError(folder, [{ key: folder, where: folder, message: `cannot be read: ${String(cause)}` }]);
    });
    const profiles: PreparedProfile[] = [];
    const claims = new Set<string>();
    for (const name of names.filter((each) => /\.ya?ml$/u.test(each)).sort()) {
      const path = join(folder, name);
      const prepared = prepareProfile(await loadProfile(path, env));
      const { profile } = prepared.loaded;
      for (const claim of [`the name ${profile.name}`, ...profile.bots.map((bot) => `the bot ${bot}`)]) {
        if (claims.has(claim))
          throw new AnalysisProfileError(path, [{ key: profile.name, where: path, message: `${claim} is already taken` }]);
        claims.add(claim);
      }
      profiles.push(prepared);
    }
    return new ProfileBook(claims.has(`the name ${DEFAULT_PROFILE}`) ? profiles : [...profiles, plainProfile()]);
  }

  named(name: string): PreparedProfile | undefined {
    return this.#byName.get(name);
  }

  /** The profile that names the bot, else the default one. */
  forBot(botName: string): PreparedProfile {
    const own = [...this.#byName.values()].find(({ loaded }) => loaded.profile.bots.includes(botName));
    return own ?? this.#byName.get(DEFAULT_PROFILE) ?? plainProfile();
  }

  get profiles(): readonly LoadedProfile[] {
    return [...this.#byName.values()].map(({ loaded }) => loaded);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }
}

export function prepareProfile(loaded: LoadedProfile): PreparedProfile {
  const { model } = loaded.profile;
  return { loaded, model: model === undefined ? undefined : new FieldModel(model, loaded.modelSecret) };
}

function plainProfile(): PreparedProfile {
  const profile = analysisProfile.parse({ name: DEFAULT_PROFILE, channels: { roles: ['caller', 'bot'] } });
  return { loaded: { profile, hash: profileHash(profile), modelSecret: undefined }, model: undefined };
}
