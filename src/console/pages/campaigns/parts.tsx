import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Format, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import type { PlanHours } from './plan.ts';
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
export function hoursText(hours: readonly PlanHours[], format: Format): string {
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
