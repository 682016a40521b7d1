import { Group, NativeSelect, Progress, ScrollArea, Stack, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { z } from 'zod';
import type { costsView } from '../../../http/api/costs/cost-routes.ts';
import { get, query } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Empty, Failure, Loading, Page } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { CostText } from './cost-text.tsx';
import { useMoney } from './money.ts';
import { Prices } from './prices.tsx';
import { costsWords } from './words.ts';

type Costs = z.output<typeof costsView>;
type Row = Costs['costs'][number];

const GROUPS = ['day', 'bot', 'vendor', 'campaign'] as const;
type Group = (typeof GROUPS)[number];
const RANGES = [7, 30, 90, 365] as const;
const DAY_MS = 86_400_000;

/** What calls cost, and the prices behind it. */
export function CostsPage(): ReactNode {
  const w = useWords(costsWords);
  const [by, setBy] = useState<Group>('day');
  const [days, setDays] = useState<number>(30);
  const { data, error, refetch } = useQuery({
    queryKey: ['costs', by, days],
    queryFn: ({ signal }) => {
      const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      const from = new Date(today - (days - 1) * DAY_MS).toISOString();
      return get<Costs>(`/costs${query({ by, from })}`, signal);
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Page title={w.title}>
      <Text c="dimmed" size="sm" mb="md">
        {w.intro}
      </Text>
      <Group gap="sm" mb="md" align="end" component="search">
        <NativeSelect
          label={w.by}
          value={by}
          onChange={({ currentTarget }) => setBy(GROUPS.find((each) => each === currentTarget.value) ?? 'day')}
          data={GROUPS.map((value) => ({ value, label: w[value] }))}
        />
        <NativeSelect
          label={w.range}
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          data={RANGES.map((value) => ({ value: String(value), label: say(w.days, { days: value }) }))}
        />
      </Group>
      {data === undefined ? (
        error === null ? (
          <Loading shape="rows" />
        ) : (
          <Failure error={error} retry={() => void refetch()} />
        )
      ) : (
        <Stack gap="xl">
          {data.costs.length === 0 ? <Empty title={w.empty}>{w.emptyHint}</Empty> : <Sums by={data.by} rows={data.costs} />}
          <Prices />
        </Stack>
      )}
    </Page>
  );
}

/** One row a group, the newest day or the largest cost first; their sum at the head, unless calls count in several groups. */
function Sums({ by, rows }: { readonly by: Group; readonly rows: readonly Row[] }): ReactNode {
  const w = useWords(costsWords);
  const format = useFormat();
  const money = useMoney();
  const shown = by === 'day' ? rows.toReversed() : rows;
  const most = Math.max(...rows.map(({ known }) => known), Number.MIN_VALUE);
  const head = by === 'vendor' ? undefined : sumOf(rows);
  return (
    <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
      <Table className="figures" aria-label={w.title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{w[by]}</Table.Th>
            <Table.Th>{w.calls}</Table.Th>
            <Table.Th>{w.cost}</Table.Th>
            <Table.Th visibleFrom="sm">{w.perCall}</Table.Th>
            <Table.Th visibleFrom="sm">{w.known}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...(head === undefined ? [] : [head]), ...shown].map((row) => {
            const { group, currency, calls, cost, known } = row;
            const isSum = row === head;
            return (
              <Table.Tr key={isSum ? 'sum' : `${group} ${currency}`} fw={isSum ? 600 : undefined}>
                <Table.Td>{isSum ? w.total : <GroupName by={by} group={group} />}</Table.Td>
                <Table.Td>{format.number(calls)}</Table.Td>
                <Table.Td>
                  <CostText cost={cost} known={known} currency={currency} />
                </Table.Td>
                <Table.Td visibleFrom="sm">{cost === 'unknown' || calls === 0 ? '–' : money(cost / calls, currency)}</Table.Td>
                <Table.Td visibleFrom="sm" w="30%">
                  {isSum ? null : <Progress value={(100 * known) / most} aria-hidden />}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}

/** @returns undefined for one row, and for several currencies */
function sumOf(rows: readonly Row[]): Row | undefined {
  const [first] = rows;
  if (first === undefined || rows.length < 2 || rows.some(({ currency }) => currency !== first.currency)) return undefined;
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const [known, unknownCalls] = [sum((row) => row.known), sum((row) => row.unknownCalls)];
  const cost = unknownCalls > 0 ? ('unknown' as const) : known;
  return { group: null, currency: first.currency, calls: sum(({ calls }) => calls), cost, known, unknownCalls };
}

function GroupName({ by, group }: { readonly by: Group; readonly group: string | null }): ReactNode {
  const w = useWords(costsWords);
  const format = useFormat();
  if (group === null) return w.noCampaign;
  if (by === 'day') return format.day(group);
  if (by === 'bot') return <Link href={`/bots/${encodeURIComponent(group)}`}>{group}</Link>;
  if (by === 'campaign') return <Link href={`/campaigns/${encodeURIComponent(group)}`}>{group}</Link>;
  return group;
}
