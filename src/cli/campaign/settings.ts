import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import { campaignSettings, type WrittenSettings } from '../../outbound/campaign.ts';
import { isRegion } from '../../outbound/number.ts';
import type { Settings } from '../../config/schema.ts';
import { isTimeZone } from '../../config/time-zone.ts';
import { WEEKDAYS, type Weekday } from '../../outbound/gate/local-time.ts';
import { errorText } from '../../kernel/errors.ts';
import type { Purpose } from '../../records/dialling.ts';
import { UsageError } from '../shell/output.ts';

/** Hours on some days, as `narrowing` has them. */
export interface Hours {
  readonly days: readonly Weekday[];
  readonly from: string;
  readonly to: string;
}

/** The rules of campaigns whose settings name none. */
export type CampaignRules = Pick<Settings['dialling'], 'profile' | 'zoneSource'>;

export interface CreateFlags {
  readonly name?: string;
  readonly bot?: string;
  readonly from?: readonly string[];
  readonly profile?: string;
  readonly purpose?: Purpose;
  readonly carrier?: string;
  readonly rate?: number;
  readonly concurrency?: number;
  readonly weight?: number;
  readonly registration?: Readonly<Record<string, string>>;
  readonly window?: readonly Hours[];
  readonly zone?: string;
  readonly maxAttempts?: number;
  readonly startsAt?: string;
  readonly endsAt?: string;
  readonly settings?: string;
}

/** Which option a setting comes from. */
const OPTIONS: Readonly<Record<string, string>> = {
  name: '--name',
  bot: '--bot',
  from: '--from',
  profile: '--profile',
  purpose: '--purpose',
  carrier: '--carrier',
  callsPerSecond: '--rate',
  concurrency: '--concurrency',
  weight: '--weight',
  registrations: '--registration',
  narrowing: '--window',
  defaultZone: '--zone',
  attempts: '--max-attempts',
  startsAt: '--starts-at',
  endsAt: '--ends-at',
};

/**
 * The settings of a campaign: those of `--settings`, and over them the other options.
 * @param file of the contacts: its name is the campaign's unless one is given
 * @throws UsageError with every problem at once, each named by its option
 */
export function writtenSettings(file: string, flags: CreateFlags, defaults: CampaignRules): WrittenSettings {
  const given: Record<string, unknown> = flags.settings === undefined ? {} : readSettings(flags.settings);
  const { window, maxAttempts } = flags;
  const attempts = objectOf(given['attempts']);
  const narrowing = objectOf(given['narrowing']);
  const windows = Array.isArray(narrowing['windows']) ? narrowing['windows'] : [];
  const written = {
    name: basename(file, extname(file)),
    profile: defaults.profile,
    zoneSource: defaults.zoneSource,
    ...given,
    ...present({
      name: flags.name,
      bot: flags.bot,
      from: flags.from,
      profile: flags.profile,
      purpose: flags.purpose,
      carrier: flags.carrier,
      callsPerSecond: flags.rate,
      concurrency: flags.concurrency,
      weight: flags.weight,
      defaultZone: flags.zone,
      startsAt: flags.startsAt,
      endsAt: flags.endsAt,
    }),
    ...(flags.registration === undefined
      ? {}
      : { registrations: { ...objectOf(given['registrations']), ...flags.registration } }),
    ...(maxAttempts === undefined ? {} : { attempts: { ...attempts, most: maxAttempts } }),
    ...(window === undefined
      ? {}
      : { narrowing: { ...narrowing, windows: [...windows, { hours: window, source: 'hours of the campaign' }] } }),
  };
  const parsed = campaignSettings.safeParse(written);
  if (parsed.success) return written as WrittenSettings; // the schema took it
  const problems = parsed.error.issues.map((issue) => {
    const key = String(issue.path[0] ?? '');
    const option = OPTIONS[key] ?? (key === '' ? 'the campaign' : key);
    const rest = issue.path.slice(1).join('.');
    const isMissing = !(key in written);
    return `  ${option}${rest === '' ? '' : ` (${rest})`}: ${isMissing ? 'is needed' : issue.message}`;
  });
  throw new UsageError(`these settings make no campaign:\n${[...new Set(problems)].join('\n')}`);
}

function readSettings(path: string): Record<string, unknown> {
  let written: unknown;
  try {
    written = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`--settings ${path} cannot be read: ${errorText(error)}`);
  }
  const read = z.record(z.string(), z.unknown()).safeParse(written);
  if (!read.success) throw new UsageError(`--settings ${path} is no YAML file with settings of a campaign`);
  return read.data;
}

function objectOf(value: unknown): Record<string, unknown> {
  const read = z.record(z.string(), z.unknown()).safeParse(value);
  return read.success ? read.data : {};
}

function present(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Parses `--from +1555…,+1555…`, which may come several times. */
export function numbersOption(text: string, before: readonly string[] = []): readonly string[] {
  const numbers = text.split(',').map((number) => number.replaceAll(/[\s().-]/gu, ''));
  return [...before, ...numbers.filter((number) => number !== '')];
}

/** Parses `--registration entityId=1101…`, which may come several times. */
export function registrationOption(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [name = '', ...rest] = text.split('=');
  const value = rest.join('=').trim();
  if (name.trim() === '' || value === '')
    throw new InvalidArgumentError('the form is name=id, for example entityId=1101000000012345.');
  return { ...before, [name.trim()]: value };
}

/** Parses `--window "mon-fri 10:00-18:00"`, which may come several times: a call is inside one of them. */
export function windowOption(text: string, before: readonly Hours[] = []): readonly Hours[] {
  const match = /^\s*(?:([a-z,\s-]+?)\s+)?(\d\d:\d\d)\s*-\s*(\d\d:\d\d)\s*$/iu.exec(text);
  const [, days = 'mon-sun', from = '', to = ''] = match ?? [];
  const named = match === null ? undefined : daysOf(days.toLowerCase());
  if (named === undefined)
    throw new InvalidArgumentError(
      'the form is "mon-fri 10:00-18:00" or "mon,wed 09:00-12:00"; days are sun, mon, tue, wed, thu, fri, sat.',
    );
  return [...before, { days: named, from, to }];
}

function daysOf(text: string): Weekday[] | undefined {
  const days = text.split(',').flatMap((part): (Weekday | undefined)[] => {
    const [first, last = first] = part.split('-').map((name) => WEEKDAYS.find((day) => day === name.trim()));
    if (first === undefined || last === undefined || part.split('-').length > 2) return [undefined];
    const start = WEEKDAYS.indexOf(first);
    const length = ((WEEKDAYS.indexOf(last) - start + 7) % 7) + 1;
    return Array.from({ length }, (_, index) => WEEKDAYS[(start + index) % 7]);
  });
  const known = days.filter((day) => day !== undefined);
  return known.length < days.length ? undefined : [...new Set(known)];
}

export function regionOption(text: string): string {
  const code = text.toUpperCase();
  if (!isRegion(code)) throw new InvalidArgumentError('it is an ISO 3166 code such as IN or US.');
  return code;
}

export function zoneOption(text: string): string {
  if (!isTimeZone(text)) throw new InvalidArgumentError('it is a time zone such as Asia/Kolkata.');
  return text;
}
