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

/** The parts of a leaf's JSON Schema that describe what may be written. */
const leafSchema = z.object({
  type: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
});

function describeLeaf(schema: z.ZodType): z.infer<typeof leafSchema> {
  return leafSchema.parse(z.toJSONSchema(schema, { io: 'input' }));
}

/** What may be written for a setting, in words: `a whole number, 0 to 65535`, `one of plain, hosted-like`. */
export function allowedText(schema: z.ZodType, unit?: string): string {
  const leaf = describeLeaf(schema);
  const suffix = unit === undefined ? '' : ` (${unit})`;
  if (leaf.enum !== undefined) return `one of ${leaf.enum.join(', ')}`;
  if (leaf.type === 'boolean') return 'true or false';
  if (leaf.type === 'integer' || leaf.type === 'number') {
    return `a ${leaf.type === 'integer' ? 'whole ' : ''}number, ${leaf.minimum ?? '…'} to ${leaf.maximum ?? '…'}${suffix}`;
  }
  if (leaf.format === 'uri') return 'an http or https address';
  return leaf.pattern === undefined ? 'a text that is not empty' : `a text of the form ${leaf.pattern}`;
}

/** Turns the text of an environment variable into what the schema expects; text that does not fit is left as it is. */
export function coerceText(schema: z.ZodType, text: string): unknown {
  const { type } = describeLeaf(schema);
  const trimmed = text.trim();
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : text;
  if (type !== 'boolean') return trimmed;
  if (/^(true|1|yes|on)$/i.test(trimmed)) return true;
  return /^(false|0|no|off)$/i.test(trimmed) ? false : text;
}

/** The default of a leaf; undefined without one. */
export function defaultOf(schema: z.ZodType): unknown {
  const parsed = schema.safeParse(undefined);
  return parsed.success ? parsed.data : undefined;
}
