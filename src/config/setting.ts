import { z } from 'zod';

/** What the documentation, the example file and error messages say about one setting. */
export interface SettingFacts {
  readonly description: string;
  /** `ms`, `bytes`, `calls` …; absent when the value has none. */
  readonly unit?: string;
  /** Short environment names that mean the same as the long one. */
  readonly aliases?: readonly string[];
  /** Kept out of `Settings`, never printed, never read from a settings file. */
  readonly secret?: true;
}

export const settingFacts = z.registry<SettingFacts>();

/** One leaf of a settings schema. */
export interface Setting extends SettingFacts {
  /** Keys from the root, for example `['http', 'port']`. */
  readonly path: readonly string[];
  /** The same, as it is written in messages: `http.port`. */
  readonly key: string;
  /** `OFFHOOK_HTTP__PORT`: the path in capitals, `__` between levels, `_` between the words of one level. */
  readonly envName: string;
  readonly schema: z.ZodType;
}

/** The environment name of a path, for example `OFFHOOK_HTTP__PUBLIC_URL` for `http.publicUrl`. */
export function envNameOf(path: readonly string[]): string {
  return `OFFHOOK_${path.map((part) => part.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()).join('__')}`;
}

/**
 * Every leaf of a schema of nested objects, in the order it is written.
 * @throws TypeError when a leaf was not registered with its facts
 */
export function settingsOf(schema: z.ZodObject, above: readonly string[] = []): Setting[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const path = [...above, name];
    if (field instanceof z.ZodObject) return settingsOf(field, path);
    if (!(field instanceof z.ZodType)) throw new TypeError(`${path.join('.')} is not a zod schema`);
    const facts = settingFacts.get(field);
    if (facts === undefined) throw new TypeError(`setting ${path.join('.')} has no description`);
    return [{ ...facts, path, key: path.join('.'), envName: envNameOf(path), schema: field }];
  });
}
