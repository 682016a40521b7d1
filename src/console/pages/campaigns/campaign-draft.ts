import { type HoursRow, writtenHours } from './hours-fields.tsx';
import type { Choices } from './queries.ts';

/** Outcomes with retries in the form; the others use defaults. */
export const RETRIED = ['no-answer', 'busy', 'mailbox', 'failed'] as const;
type Retried = (typeof RETRIED)[number];

/** A campaign as it is typed. */
export interface Draft {
  readonly name: string;
  readonly bot: string;
  readonly from: readonly string[];
  readonly profile: string;
  readonly purpose: string;
  readonly registrations: Readonly<Record<string, string>>;
  readonly hours: readonly HoursRow[];
  readonly defaultZone: string;
  readonly callsPerSecond: number | string;
  readonly concurrency: number | string;
  readonly most: number | string;
  readonly retries: Readonly<Partial<Record<Retried, { readonly after: string; readonly most: number | string }>>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

/** What a form begins with: the only bot, an own number, the usual rules. */
export function firstDraft({ bots, callerIds, defaults, profiles }: Choices): Draft {
  const own = callerIds.find(({ isSeries }) => !isSeries);
  return {
    name: '',
    bot: bots.length === 1 ? (bots[0] ?? '') : '',
    from: own === undefined ? [] : [own.number],
    profile: profiles.some(({ name }) => name === defaults.profile) ? defaults.profile : '',
    purpose: '',
    registrations: {},
    hours: [],
    defaultZone: '',
    callsPerSecond: 1,
    concurrency: 10,
    most: 3,
    retries: {},
    startsAt: '',
    endsAt: '',
  };
}

/** As the API takes them; what is empty is left to its default. */
export function settingsOf(draft: Draft) {
  const registrations = Object.fromEntries(Object.entries(draft.registrations).filter(([, value]) => value.trim() !== ''));
  const after = Object.fromEntries(
    Object.entries(draft.retries).map(([outcome, { after: minutes, most }]) => [
      outcome,
      {
        afterMinutes: minutes
          .split(/[\s,;]+/u)
          .filter((each) => each !== '')
          .map(Number),
        most: Number(most),
      },
    ]),
  );
  const windows = writtenHours(draft.hours);
  return {
    name: draft.name,
    bot: draft.bot,
    from: draft.from.map((number) => number.replaceAll(/[\s().-]/gu, '')),
    profile: draft.profile,
    ...(draft.purpose === '' ? {} : { purpose: draft.purpose }),
    ...(Object.keys(registrations).length === 0 ? {} : { registrations }),
    ...(draft.defaultZone === '' ? {} : { defaultZone: draft.defaultZone }),
    ...numbered({ callsPerSecond: draft.callsPerSecond, concurrency: draft.concurrency }),
    ...(windows.length === 0 ? {} : { narrowing: { windows: [{ hours: windows, source: 'hours of the campaign' }] } }),
    attempts: { ...numbered({ most: draft.most }), ...(Object.keys(after).length === 0 ? {} : { after }) },
    ...(draft.startsAt === '' ? {} : { startsAt: instantOf(draft.startsAt) }),
    ...(draft.endsAt === '' ? {} : { endsAt: instantOf(draft.endsAt) }),
  };
}

/** A local time as an instant; what is no time is passed on, for the API to say so. */
function instantOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

function numbered<Name extends string>(values: Readonly<Record<Name, number | string>>): Partial<Record<Name, number>> {
  const given = Object.entries<number | string>(values).filter(([, value]) => value !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, Number(value)])) as Partial<Record<Name, number>>; // the same names
}
