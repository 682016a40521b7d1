import type { z } from 'zod';
import { maskNumber, maskNumbersIn } from '../../records/privacy/mask-number.ts';
import type { Principal } from './system/api-keys.ts';

/** The API says null where a record says nothing. */
type Said<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value;
type Time<WallMs> = WallMs extends number ? string : undefined extends WallMs ? null : never;
/** Fields of a view that follow from the record's: those of the same name, and a time `x` from `xMs`. */
type Following<View, Entity> = {
  [Name in keyof View & string]: Name extends keyof Entity
    ? Said<Entity[Name]> extends View[Name]
      ? Name
      : never
    : `${Name}Ms` extends keyof Entity
      ? Time<Entity[`${Name}Ms`]> extends View[Name]
        ? Name
        : never
      : never;
}[keyof View & string];

/**
 * A record as the API shows it, with the fields of its view: absent ones are null, and `endedAtMs` is `endedAt` as an ISO time.
 * @param rest fields with other names, masked values, and whatever else does not follow from the record
 */
export function viewOf<Shape extends z.core.$ZodLooseShape, Entity extends object>(
  view: z.ZodObject<Shape>,
  record: Entity,
  rest: Omit<z.output<z.ZodObject<Shape>>, Following<z.output<z.ZodObject<Shape>>, Entity>> &
    Partial<z.output<z.ZodObject<Shape>>>,
): z.output<z.ZodObject<Shape>> {
  const [facts, given] = [new Map(Object.entries(record)), new Map(Object.entries(rest))];
  const valueOf = (name: string): unknown => {
    if (given.has(name)) return given.get(name);
    const wallMs: unknown = facts.get(`${name}Ms`);
    return facts.get(name) ?? (typeof wallMs === 'number' ? isoTime(wallMs) : null);
  };
  // The types above hold its fields together.
  return Object.fromEntries(Object.keys(view.shape).map((name) => [name, valueOf(name)])) as z.output<z.ZodObject<Shape>>;
}

export function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

export function optionalTime(wallMs: number | undefined): string | null {
  return wallMs === undefined ? null : isoTime(wallMs);
}

/** Formats numbers as this key may see them. */
export function numbersFor({ scopes }: Pick<Principal, 'scopes'>): (number: string) => string {
  return (number) => (scopes.includes('numbers:read') ? number : maskNumber(number));
}

/** Formats texts, with these numbers in them as this key may see them. */
export function textsFor(numbers: readonly string[], { scopes }: Pick<Principal, 'scopes'>): (text: string) => string {
  return (text) => (scopes.includes('numbers:read') ? text : maskNumbersIn(text, numbers));
}

export function maskedEntries(texts: Readonly<Record<string, string>>, masked: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [masked(name), masked(value)]));
}
