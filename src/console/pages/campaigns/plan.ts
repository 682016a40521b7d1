/** Hours on some days, as `narrowing.windows` and profiles have them. */
export interface PlanHours {
  readonly days?: readonly string[] | undefined;
  readonly from: string;
  readonly to: string;
}

/** A campaign's settings, as far as its summary tells of them. */
export interface PlannedCampaign {
  readonly bot: string;
  readonly from: readonly string[];
  readonly profile: string;
  readonly purpose?: string | undefined;
  readonly callsPerSecond?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly narrowing?: { readonly windows?: readonly { readonly hours: readonly PlanHours[] }[] | undefined } | undefined;
  readonly defaultZone?: string | undefined;
  readonly startsAt?: string | undefined;
  readonly endsAt?: string | undefined;
  readonly attempts?: { readonly most?: number | undefined } | undefined;
}

export interface PlanProfile {
  readonly windows: readonly { readonly purposes: readonly string[] | null; readonly hours: readonly PlanHours[] }[];
}

/** One sentence of the summary, and what stands in it. */
export type PlanLine =
  | { readonly line: 'whom'; readonly contacts: number; readonly bot: string; readonly from: string }
  | { readonly line: 'nobody'; readonly bot: string; readonly from: string }
  | { readonly line: 'hours'; readonly hours: readonly PlanHours[] }
  | { readonly line: 'profile hours'; readonly profile: string; readonly hours: readonly PlanHours[] }
  | { readonly line: 'any hour'; readonly profile: string }
  | { readonly line: 'pace'; readonly callsPerSecond: number; readonly concurrency: number; readonly leastMinutes: number }
  | { readonly line: 'attempts'; readonly most: number }
  | { readonly line: 'begins'; readonly at: string }
  | { readonly line: 'ends'; readonly at: string };

/** What starting a campaign will do, in sentences: contacts, hours, pace, retries. */
export function planOf(campaign: PlannedCampaign, profile: PlanProfile | undefined, contacts: number): PlanLine[] {
  const { bot, from, purpose, callsPerSecond = 1, concurrency = 10, startsAt, endsAt } = campaign;
  const numbers = from.join(', ');
  const own = (campaign.narrowing?.windows ?? []).flatMap(({ hours }) => hours);
  const rules = (profile?.windows ?? []).filter(
    ({ purposes }) => purposes === null || purpose === undefined || purposes.includes(purpose),
  );
  const general = rules.flatMap(({ hours }) => hours);
  const when: PlanLine[] = own.length > 0 ? [{ line: 'hours', hours: own }] : [];
  when.push(
    general.length > 0
      ? { line: 'profile hours', profile: campaign.profile, hours: general }
      : { line: 'any hour', profile: campaign.profile },
  );
  return [
    contacts === 0 ? { line: 'nobody', bot, from: numbers } : { line: 'whom', contacts, bot, from: numbers },
    ...when,
    { line: 'pace', callsPerSecond, concurrency, leastMinutes: Math.ceil(contacts / callsPerSecond / 60) },
    { line: 'attempts', most: campaign.attempts?.most ?? 3 },
    ...(startsAt === undefined ? [] : [{ line: 'begins', at: startsAt } as const]),
    ...(endsAt === undefined ? [] : [{ line: 'ends', at: endsAt } as const]),
  ];
}

/** A stretch of a day in which calls may be made, in steps. `to` is excluded. */
export interface OpenStretch {
  readonly from: number;
  readonly to: number;
}

/** @param steps `1` for open, `0` for closed */
export function openStretches(steps: string): OpenStretch[] {
  return [...steps.matchAll(/1+/gu)].map(({ index, 0: run }) => ({ from: index, to: index + run.length }));
}
