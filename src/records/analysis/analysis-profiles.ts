import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../config/env.ts';
import { schemaProblems } from '../../config/schema-problems.ts';
import { Secret } from '../../config/secrets.ts';
import { readYaml } from '../../config/yaml-document.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { errorText } from '../../kernel/errors.ts';
import { AnalysisProfileError } from '../errors.ts';
import { type AnalysisProfile, analysisProfile } from './profile.ts';
import { FieldModel } from './model-fields.ts';

/** A profile with what it needs to be carried out. */
export interface PreparedProfile {
  readonly loaded: LoadedProfile;
  readonly model: FieldModel | undefined;
}

export const DEFAULT_PROFILE = 'default';

/** The profiles of a folder, by name and by bot. */
export class AnalysisProfiles {
  readonly #byName: ReadonlyMap<string, PreparedProfile>;

  private constructor(profiles: readonly PreparedProfile[]) {
    this.#byName = new Map(profiles.map((each) => [each.loaded.profile.name, each]));
  }

  /** A single `default` profile that asks for nothing: transcript and measures alone. */
  static plain(): AnalysisProfiles {
    return new AnalysisProfiles([plainProfile()]);
  }

  /**
   * Reads every `*.yaml` and `*.yml` of a folder. A `default` profile that is not there asks for nothing.
   * @param env where the models' secrets are looked up
   * @throws AnalysisProfileError with every problem of the first file that has any, or for two profiles that claim the same
   */
  static async load(folder: string, env: Environment): Promise<AnalysisProfiles> {
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
    return new AnalysisProfiles(claims.has(`the name ${DEFAULT_PROFILE}`) ? profiles : [...profiles, plainProfile()]);
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

/** A profile that was read and checked, with what identifies it in results. */
export interface LoadedProfile {
  readonly profile: AnalysisProfile;
  /** 16 hex digits over everything the profile says: two profiles of one name and different content differ. */
  readonly hash: string;
  /** The value of the model's `secretEnv`. */
  readonly modelSecret: Secret | undefined;
}

/**
 * Reads a profile from a YAML file.
 * @param env where the model's secret is looked up
 * @throws AnalysisProfileError with every problem at once, each with its line
 */
export async function loadProfile(path: string, env: Environment = {}): Promise<LoadedProfile> {
  let yaml: string;
  try {
    yaml = await readFile(path, 'utf8');
  } catch (error) {
    throw new AnalysisProfileError(path, [{ key: path, where: path, message: `cannot be read: ${errorText(error)}` }]);
  }
  return parseProfile(yaml, path, env);
}

/** @param source names the text in messages. @throws AnalysisProfileError */
export function parseProfile(yaml: string, source: string, env: Environment = {}): LoadedProfile {
  const read = readYaml(yaml, source);
  if ('problem' in read) throw new AnalysisProfileError(source, [read.problem]);
  const { written, whereOf } = read;
  const parsed = analysisProfile.safeParse(written);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const document = { schema: analysisProfile, issues, written, whereOf, what: 'an analysis profile', root: 'profile' };
    throw new AnalysisProfileError(source, schemaProblems(document));
  }
  const modelSecret = secretOf(parsed.data, source, env);
  return { profile: parsed.data, hash: profileHash(parsed.data), modelSecret };
}

/** The same for the same settings, however they were written down. */
export function profileHash(profile: AnalysisProfile): string {
  return createHash('sha256').update(canonicalJson(profile)).digest('hex').slice(0, 16);
}

function secretOf(profile: AnalysisProfile, source: string, env: Environment): Secret | undefined {
  const name = profile.model?.secretEnv;
  if (name === undefined) return undefined;
  const problem = (message: string): never => {
    throw new AnalysisProfileError(source, [{ key: 'model.secretEnv', where: source, message }]);
  };
  const file = env[`${name}_FILE`];
  let value = env[name];
  try {
    value ??= file === undefined ? undefined : readFileSync(file, 'utf8').trim();
  } catch (error) {
    problem(`the file of ${name}_FILE cannot be read: ${errorText(error)}`);
  }
  if (value === undefined || value === '') return problem(`neither ${name} nor ${name}_FILE is set`);
  return new Secret(value);
}

/** What tells the results of two profiles apart; the default profile's is the call's own. */
export function profileKey({ loaded: { profile, hash } }: PreparedProfile): string {
  return profile.name === DEFAULT_PROFILE ? DEFAULT_PROFILE : `${profile.name}@${hash}`;
}
