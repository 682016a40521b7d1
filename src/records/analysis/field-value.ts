import { z } from 'zod';
import { calendarDay, tokenise } from '../../language/index.ts';
import type { ProfileField } from './profile.ts';

export type FieldValue = string | number | boolean;

/** A value of the field's type: what a model has to answer with, and what a rule's find has to become. */
export function valueSchema(field: Pick<ProfileField, 'type' | 'choices' | 'least' | 'most'>): z.ZodType<FieldValue> {
  const { least = 1, most = 1000 } = field;
  switch (field.type) {
    case 'text':
      return z.string().trim().min(least).max(most);
    case 'number':
      return z.number();
    case 'integer':
      return z.int();
    case 'boolean':
      return z.boolean();
    case 'date':
      return z.string().refine(isDay, 'a date, YYYY-MM-DD');
    case 'time':
      return z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, 'a time, HH:MM');
    case 'digits':
      return z.string().regex(/^\d+$/u, 'digits alone').min(least).max(most);
    case 'email':
      return z.email();
    case 'choice':
      return z.enum(Object.keys(field.choices ?? {}));
  }
}

/** A rule's match as a value of the field's type; undefined for an invalid one. */
export function checkedValue(field: ProfileField, raw: string): FieldValue | undefined {
  const parsed = valueSchema(field).safeParse(converted(field, raw.trim()));
  return parsed.success ? parsed.data : undefined;
}

function converted(field: ProfileField, raw: string): unknown {
  switch (field.type) {
    case 'text':
    case 'date':
    case 'time':
      return raw;
    case 'number':
    case 'integer':
      return raw === '' ? undefined : Number(raw.replaceAll(/[,\s]/gu, ''));
    case 'boolean':
      return /^(?:yes|true)$/iu.test(raw) ? true : /^(?:no|false)$/iu.test(raw) ? false : undefined;
    case 'digits':
      return raw.replaceAll(/[\s.,()-]/gu, '');
    case 'email':
      return raw.includes('@') ? raw : spokenAddress(raw);
    case 'choice': {
      const words = tokenise(raw).join(' ');
      return Object.entries(field.choices ?? {}).find(([name, phrases]) =>
        [name, ...phrases].some((phrase) => tokenise(phrase).join(' ') === words),
      )?.[0];
    }
  }
}

/** `asha dot rao at gmail dot com` as it is written. */
function spokenAddress(raw: string): string {
  return raw
    .toLowerCase()
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/ (?:at(?: the rate)?|एट(?: द रेट)?) /gu, '@')
    .replaceAll(/ (?:dot|डॉट|डाट) /gu, '.')
    .replaceAll(' underscore ', '_')
    .replaceAll(/ (?:dash|hyphen|minus) /gu, '-')
    .replaceAll(' ', '');
}

function isDay(text: string): boolean {
  try {
    return calendarDay(text) === text;
  } catch {
    return false;
  }
}
