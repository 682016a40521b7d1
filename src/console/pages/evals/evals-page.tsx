import { Anchor, Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { EvalListView, EvalSummaryView } from '../../../http/api/evals/eval-routes.ts';
import { get } from '../../api.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Empty, Failure, Loading, Moment, Page } from '../../parts/states.tsx';
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
        <PlainTable
          label={w.title}
          rows={data.runs.flatMap((run) => run.suites.map((suite) => ({ run, suite })))}
          keyOf={({ run, suite }) => `${run.id} ${suite.path}`}
          columns={[
            {
              title: w.when,
              renderCell: ({ run }) => (
                <Anchor component={Link} href={`/evals/${run.id}`} fw={600} fz="sm">
                  <Moment at={run.startedAt} />
                </Anchor>
              ),
            },
            { title: w.bot, renderCell: ({ suite }) => suite.bot },
            { title: w.version, renderCell: ({ run, suite }) => <Version run={run} suite={suite} /> },
            { title: w.depth, renderCell: ({ run }) => run.depth },
            { title: w.result, renderCell: ({ suite }) => <Passed suite={suite} /> },
            { title: w.change, renderCell: ({ run, suite }) => <Change suite={suite} stopped={run.stopped} /> },
          ]}
        />
      )}
    </Page>
  );
}

function Version({ run, suite }: { readonly run: EvalSummaryView; readonly suite: Suite }): ReactNode {
  const w = useWords(evalsWords);
  return (
    <span className="figures">
      {suite.version === '' ? '–' : suite.version}
      {run.draft === true ? ` (${w.draft})` : ''}
    </span>
  );
}

function Passed({ suite: { verdicts } }: { readonly suite: Suite }): ReactNode {
  const w = useWords(evalsWords);
  const all = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  return (
    <Badge
      color={verdicts.passed === all ? 'green' : 'red'}
      variant="light"
      c="var(--mantine-color-text)"
      tt="none"
      fw={500}
      miw="max-content"
    >
      {say(w.passedOf, { passed: verdicts.passed ?? 0, all })}
    </Badge>
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
