import { z } from 'zod';
import type { Secret } from './secrets.ts';

/** What the documentation, the example file and error messages say about one setting. */
export interface SettingFacts {
  readonly description: string;
  /** `ms`, `bytes`, `calls` …; absent for a value without a unit. */
  readonly unit?: string;
  /** Short environment names that mean the same as the long one. */
  readonly aliases?: readonly string[];
  /** Kept out of `Settings`, never printed, never read from a settings file. */
  readonly secret?: true;
}

export const settingFacts = z.registry<SettingFacts>();

export const minute = 60_000;
export const hour = 60 * minute;

// What the schemas of settings are made of.
type More = Pick<SettingFacts, 'unit' | 'aliases'>;

export const whole = (least: number, most: number, byDefault: number, description: string, more: More = {}) =>
  z
    .int()
    .min(least)
    .max(most)
    .default(byDefault)
    .register(settingFacts, { description, ...more });
export const millis = (least: number, most: number, byDefault: number, description: string) =>
  whole(least, most, byDefault, description, { unit: 'ms' });
export const flag = (byDefault: boolean, description: string) =>
  z.boolean().default(byDefault).register(settingFacts, { description });
export const text = (byDefault: string, description: string, more: More = {}) =>
  z
    .string()
    .min(1)
    .default(byDefault)
    .register(settingFacts, { description, ...more });
const httpAddress = () => z.url({ protocol: /^https?$/ });
export const address = (description: string, ...aliases: string[]) =>
  httpAddress().optional().register(settingFacts, { description, aliases });
/** An address that most installations leave as it is. */
export const addressOr = (byDefault: string, description: string, ...aliases: string[]) =>
  httpAddress().default(byDefault).register(settingFacts, { description, aliases });
export const optionalText = (description: string) => z.string().min(1).optional().register(settingFacts, { description });
export const secret = (description: string, ...aliases: string[]) =>
  z.string().min(1).optional().register(settingFacts, { description, aliases, secret: true });

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

/** What one carrier, or one speech vendor, is configured with. */
export interface AdapterConfig {
  /** As its schema has parsed them. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** By name; a list may hold several during a rotation, and is empty where nothing was given. */
  readonly secrets: Readonly<Record<string, readonly Secret[]>>;
  /** For carriers: the gateway's address there, without a trailing slash, if different from `publicUrl`. */
  readonly publicUrl?: string | undefined;
}

/** By the names of carriers and of tenants' own accounts (`accountName`), or of vendors. */
export type AdapterConfigs = ReadonlyMap<string, AdapterConfig>;
