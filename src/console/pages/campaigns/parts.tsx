import { Group, Stack, Text, Box, Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Format, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import type { CampaignItem } from './queries.ts';
import { campaignWords } from './words.ts';

type State = CampaignItem['state'];
/** A sign beside the word, so that the state is not told by colour. */
const SIGNS: Readonly<Record<State, string>> = { draft: '○', running: '●', paused: '❚❚', finished: '✓', stopped: '■' };
const STATES = {
  draft: 'stateDraft',
  running: 'stateRunning',
  paused: 'statePaused',
  finished: 'stateFinished',
  stopped: 'stateStopped',
} as const;

export function StateOf({ state }: { readonly state: State }): ReactNode {
  const w = useWords(campaignWords);
  return (
    <Group gap={6} wrap="nowrap">
      <Text component="span" aria-hidden c={state === 'running' ? 'var(--mantine-color-anchor)' : 'dimmed'} fz="xs">
        {SIGNS[state]}
      </Text>
      <Text component="span" fw={500} fz="sm">
        {w[STATES[state]]}
      </Text>
    </Group>
  );
}

/** Why a campaign does not call now; nothing where it does, or never began. */
export function useWhy(): (
  campaign: Pick<CampaignItem, 'state' | 'reason' | 'changedBy'>,
  waits?: { readonly nextDueAt: string | null; readonly leased: number },
) => string | undefined {
  const w = useWords(campaignWords);
  const format = useFormat();
  return ({ state, reason, changedBy }, waits) => {
    if (state === 'paused') {
      if (changedBy === 'breaker') return say(w.pausedByBreaker, { reason: reason ?? '' });
      if (changedBy === 'gateway') return say(w.pausedByGateway, { reason: reason ?? '' });
      return reason === null ? w.pausedByPerson : say(w.pausedByPersonBecause, { reason });
    }
    if (state === 'stopped') return reason === null ? undefined : say(w.stoppedBecause, { reason });
    if (state !== 'running' || waits?.nextDueAt == null || waits.leased > 0) return undefined;
    const isLater = Date.parse(waits.nextDueAt) > Date.now() + 5_000;
    return isLater ? say(w.waitsUntil, { time: format.time(waits.nextDueAt) }) : undefined;
  };
}

/** `Mon, Tue 10:00–19:00`; days are left out where they are all. */
function hoursText(hours: readonly PlanHours[], format: Format): string {
  return hours
    .map(({ days, from, to }) => {
      const named = days === undefined || days.length === 7 ? '' : `${days.map((day) => format.weekday(day)).join(', ')} `;
      return `${named}${from}–${to}`;
    })
    .join(', ');
}

/** A number of the page with its name. */
export function Figure({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note?: string | undefined;
}): ReactNode {
  return (
    <Stack gap={0} miw={96}>
      <Text fz="xs" c="dimmed">
        {name}
      </Text>
      <Text fz="xl" fw={600} className="figures" lh={1.2}>
        {value}
      </Text>
      {note === undefined ? null : (
        <Text fz="xs" c="dimmed" className="figures">
          {note}
        </Text>
      )}
    </Stack>
  );
}

/** Hours on some days, as `narrowing.windows` and profiles have them. */
interface PlanHours {
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

interface PlanProfile {
  readonly windows: readonly { readonly purposes: readonly string[] | null; readonly hours: readonly PlanHours[] }[];
}

/** One sentence of the summary, and what stands in it. */
type PlanLine =
  | { readonly line: 'whom'; readonly contacts: number; readonly bot: string; readonly from: string }
  | { readonly line: 'nobody'; readonly bot: string; readonly from: string }
  | { readonly line: 'unset' }
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
    bot === '' || numbers === ''
      ? { line: 'unset' }
      : contacts === 0
        ? { line: 'nobody', bot, from: numbers }
        : { line: 'whom', contacts, bot, from: numbers },
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

/** What will happen, in plain sentences, before anybody is called. */
export function PlanSummary({
  campaign,
  profile,
  contacts,
}: {
  readonly campaign: PlannedCampaign;
  readonly profile: PlanProfile | undefined;
  readonly contacts: number;
}): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const told = (line: PlanLine): string => {
    switch (line.line) {
      case 'whom':
        return say(w.planWhom, { ...line, contacts: format.number(line.contacts) });
      case 'unset':
        return w.planUnset;
      case 'nobody':
        return say(w.planNobody, line);
      case 'hours':
        return say(w.planHours, { hours: hoursText(line.hours, format) });
      case 'profile hours':
        return say(w.planProfileHours, { profile: line.profile, hours: hoursText(line.hours, format) });
      case 'any hour':
        return say(w.planAnyHour, line);
      case 'pace':
        return say(line.leastMinutes > 1 ? w.planPace : w.planPaceShort, {
          ...line,
          minutes: format.number(line.leastMinutes),
        });
      case 'attempts':
        return say(w.planAttempts, line);
      case 'begins':
        return say(w.planBegins, { at: format.time(line.at) });
      case 'ends':
        return say(w.planEnds, { at: format.time(line.at) });
    }
  };
  return (
    <Paper withBorder p="md" component="section" aria-label={w.whatHappens}>
      <Text fw={600} mb="xs">
        {w.whatHappens}
      </Text>
      <Box component="ul" className="lines">
        {planOf(campaign, profile, contacts).map((line) => (
          <li key={line.line}>{told(line)}</li>
        ))}
      </Box>
    </Paper>
  );
}
