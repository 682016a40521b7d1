import { Anchor, Badge, Group, ScrollArea, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { EvalListView, EvalSummaryView } from '../../../http/api/evals/eval-routes.ts';
import { get } from '../../api.ts';
import { Empty, Failure, Headings, Loading, Moment, Page } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { evalsWords } from './words.ts';

type Suite = EvalSummaryView['suites'][number];

/** Runs of evals, a row for each suite: the bot's version, the verdicts, and what changed since the run before. */
export function EvalsPage(): ReactNode {
  const w = useWords(evalsWords);
  const { data, error, refetch } = useQuery({
    queryKey: ['evals'],
    queryFn: ({ signal }) => get<EvalListView>('/evals/runs', signal),
    refetchInterval: 15_000,
  });
  return (
    <Page title={w.title}>
      <Text c="dimmed" size="sm" mb="md">
        {w.intro}
      </Text>
      {error === null ? null : <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <Loading /> : null}
      {data?.runs.length === 0 ? <Empty title={w.none}>{w.noneHint}</Empty> : null}
      {data === undefined || data.runs.length === 0 ? null : (
        <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
          <Table verticalSpacing="sm" miw={680}>
            <Headings names={[w.when, w.bot, w.version, w.depth, w.result, w.change]} />
            <Table.Tbody>
              {data.runs.flatMap((run) =>
                run.suites.map((suite) => <Row key={`${run.id} ${suite.path}`} run={run} suite={suite} />),
              )}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      )}
    </Page>
  );
}

function Row({ run, suite }: { readonly run: EvalSummaryView; readonly suite: Suite }): ReactNode {
  const w = useWords(evalsWords);
  const { verdicts } = suite;
  const all = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  const isGreen = verdicts.passed === all;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/evals/${run.id}`} fw={600}>
          <Moment at={run.startedAt} />
        </Anchor>
      </Table.Td>
      <Table.Td>{suite.bot}</Table.Td>
      <Table.Td className="figures">
        {suite.version === '' ? '–' : suite.version}
        {run.draft === true ? ` (${w.draft})` : ''}
      </Table.Td>
      <Table.Td>{run.depth}</Table.Td>
      <Table.Td>
        <Badge color={isGreen ? 'green' : 'red'} variant="light" c="var(--mantine-color-text)" tt="none" fw={500}>
          {say(w.passedOf, { passed: verdicts.passed ?? 0, all })}
        </Badge>
      </Table.Td>
      <Table.Td>
        <Change suite={suite} stopped={run.stopped} />
      </Table.Td>
    </Table.Tr>
  );
}

function Change({ suite: { broken, mended }, stopped }: { readonly suite: Suite; readonly stopped: boolean }): ReactNode {
  const w = useWords(evalsWords);
  return (
    <Group gap="xs">
      {broken > 0 ? (
        <Text size="sm" fw={600}>
          {say(w.broken, { count: broken })}
        </Text>
      ) : null}
      {mended > 0 ? <Text size="sm">{say(w.mended, { count: mended })}</Text> : null}
      {broken + mended === 0 ? (
        <Text size="sm" c="dimmed">
          {w.same}
        </Text>
      ) : null}
      {stopped ? (
        <Text size="sm" c="dimmed">
          {w.stopped}
        </Text>
      ) : null}
    </Group>
  );
}
