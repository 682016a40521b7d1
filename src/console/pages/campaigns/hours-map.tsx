import { Table, Text, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../parts/format.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { openStretches } from './parts.tsx';
import { type Hours, useHours } from './queries.ts';
import { campaignWords } from './words.ts';

const HEIGHT = 18;
const MARKS = [0, 6, 12, 18, 24];

/** Calling hours of contacts today, on the reader's clock: a row for each set of time zones. */
export function HoursMap({ id }: { readonly id: string }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { data, error, refetch } = useHours(id, true);
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const { rows, sampled, open } = data;
  if (rows.length === 0) return <Text c="dimmed">{w.nobodyLeft}</Text>;
  const callable = rows.filter(({ isOpen }) => isOpen).reduce((sum, { contacts }) => sum + contacts, 0);
  const values = {
    share: format.share(callable, sampled),
    sampled: format.number(sampled),
    open: format.number(open),
  };
  return (
    <>
      <Text fz="sm" mb="xs">
        {say(w.callableNow, values)}
        {sampled < open ? ` ${say(w.sampledOf, values)}` : ''}
      </Text>
      <Table.ScrollContainer minWidth={560}>
        <Table withRowBorders={false} verticalSpacing={2}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{w.zone}</Table.Th>
              <Table.Th ta="right">{w.share}</Table.Th>
              <Table.Th w="60%">
                <VisuallyHidden>{w.hoursTitle}</VisuallyHidden>
                <Scale />
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Row key={`${row.zones.join()} ${row.overlays.join()}`} row={row} hours={data} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function Scale(): ReactNode {
  return (
    <svg width="100%" height={14} aria-hidden className="figures">
      {MARKS.map((hour) => (
        <text
          key={hour}
          x={`${(hour / 24) * 100}%`}
          y={11}
          fontSize={11}
          fill="var(--mantine-color-dimmed)"
          textAnchor={hour === 0 ? 'start' : hour === 24 ? 'end' : 'middle'}
        >
          {String(hour).padStart(2, '0')}
        </text>
      ))}
    </svg>
  );
}

function Row({ row, hours }: { readonly row: Hours['rows'][number]; readonly hours: Hours }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { zones, overlays, contacts, steps, isOpen, opensAt } = row;
  const fromMs = Date.parse(hours.from);
  const stepMs = hours.stepMinutes * 60_000;
  const width = steps.length;
  const at = (step: number): string => format.listedTime(new Date(fromMs + step * stepMs).toISOString());
  const stretches = openStretches(steps);
  const spoken = stretches.length === 0 ? w.closedToday : stretches.map(({ from, to }) => `${at(from)}–${at(to)}`).join(', ');
  const [first] = zones;
  const name =
    first === undefined
      ? w.zoneUnknown
      : zones.length === 1
        ? first
        : say(w.zoneAndMore, { zone: first, count: zones.length - 1 });
  const now = (Date.now() - fromMs) / stepMs;
  const next = isOpen ? w.openNow : opensAt === null ? w.neverOpens : say(w.opensAt, { time: format.time(opensAt) });
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        <Text fz="sm">{name}</Text>
        <Text fz="xs" c="dimmed">
          {[...overlays, next].join(' · ')}
        </Text>
      </Table.Th>
      <Table.Td ta="right" className="figures">
        {format.share(contacts, hours.sampled)}
      </Table.Td>
      <Table.Td>
        <svg
          role="img"
          aria-label={`${name}: ${spoken}`}
          width="100%"
          height={HEIGHT}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          preserveAspectRatio="none"
        >
          <rect x={0} y={0} width={width} height={HEIGHT} fill="var(--mantine-color-default-border)" opacity={0.5} />
          {stretches.map(({ from, to }) => (
            <rect key={from} x={from} y={0} width={to - from} height={HEIGHT} fill="var(--mantine-color-offhook-4)" />
          ))}
          {now >= 0 && now <= width ? <rect x={now} y={0} width={0.4} height={HEIGHT} fill="var(--mantine-color-text)" /> : null}
        </svg>
      </Table.Td>
    </Table.Tr>
  );
}
