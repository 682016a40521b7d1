import { Alert, Anchor, Badge, Button, Group, Progress, Select, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { BotEvalView } from '../../../../http/api/bots/bot-eval-routes.ts';
import type { EvalRunView } from '../../../../http/api/evals/eval-routes.ts';
import { get, post, remove } from '../../../api.ts';
import { PlainTable } from '../../../parts/plain-table.tsx';
import { Failure, Moment } from '../../../parts/states.tsx';
import { useMay } from '../../../session.tsx';
import { say, useWords } from '../../../words.ts';
import { type EvalsWords, evalsWords } from '../../evals/words.ts';
import { botPath } from './queries.ts';
import { editWords } from './words.ts';

/** Calls of each scenario; the suite's own number by default. */
const RUNS = ['suite', '1', '3', '10'] as const;
const ASK_EVERY_MS = 1_000;

/** Runs the bot's suites with a draft beside the published version. @param draft undefined: the published version alone */
export function DraftEval({
  bot,
  draft,
  isSound,
}: {
  readonly bot: string;
  readonly draft: string | undefined;
  readonly isSound: boolean;
}): ReactNode {
  const w = useWords(editWords);
  const mayTalk = useMay('calls:talk');
  const client = useQueryClient();
  const [runs, setRuns] = useState<string>(RUNS[0]);
  const [begun, setBegun] = useState<{ readonly draft: string | undefined }>();
  const [error, setError] = useState<Error>();
  const queryKey = ['bots', bot, 'evals'];
  const { data: standing } = useQuery({
    queryKey,
    queryFn: ({ signal }) => get<BotEvalView>(botPath(bot, '/evals'), signal),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? ASK_EVERY_MS : false),
  });
  const change = async (act: () => Promise<unknown>): Promise<void> => {
    setError(undefined);
    await act().catch((caught: unknown) => setError(caught instanceof Error ? caught : new Error(String(caught))));
    await client.invalidateQueries({ queryKey });
  };
  const begin = (): Promise<void> =>
    change(async () => {
      await post(botPath(bot, '/evals'), { draft, ...(runs === 'suite' ? {} : { runs: Number(runs) }) });
      setBegun({ draft });
    });
  const isRunning = standing?.state === 'running';
  return (
    <Stack gap="sm" mt="sm" component="section" aria-label={w.eval}>
      <Text size="sm">{draft === undefined ? w.evalPublished : w.evalHint}</Text>
      <Group gap="sm" align="end">
        <Select
          size="xs"
          w={190}
          label={w.evalRuns}
          allowDeselect={false}
          disabled={isRunning}
          value={runs}
          data={RUNS.map((each) => ({ value: each, label: each === 'suite' ? w.evalOfSuite : each }))}
          onChange={(next) => setRuns(next ?? RUNS[0])}
        />
        {isRunning ? (
          <Button size="xs" variant="default" onClick={() => void change(() => remove(botPath(bot, '/evals')))}>
            {w.evalStop}
          </Button>
        ) : (
          <Button size="xs" disabled={!mayTalk || !isSound} onClick={() => void begin()}>
            {w.evalBegin}
          </Button>
        )}
      </Group>
      {error === undefined ? null : <Failure error={error} />}
      {standing === undefined ? null : <Standing standing={standing} />}
      {standing?.run == null ? null : <Result run={standing.run} isStale={begun !== undefined && begun.draft !== draft} />}
    </Stack>
  );
}

/** How far a run is, or why it failed. */
function Standing({ standing: { state, calls, of, problem } }: { readonly standing: BotEvalView }): ReactNode {
  const w = useWords(editWords);
  if (state === 'running')
    return (
      <div>
        <Text size="sm" className="figures" aria-live="polite">
          {of === 0 ? w.evalReads : say(w.evalCalls, { calls, of })}
        </Text>
        <Progress value={of === 0 ? 0 : (100 * calls) / of} size="sm" mt={4} aria-label={w.eval} />
      </div>
    );
  if (state !== 'failed') return null;
  return (
    <Alert color="red" variant="light" role="alert" title={w.evalFailed}>
      <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
        {problem}
      </Text>
    </Alert>
  );
}

type Scenario = EvalRunView['scenarios'][number];
const COLORS = { worse: 'red', better: 'green', same: 'gray' } as const;
type Change = keyof typeof COLORS;
const ORDER: readonly Change[] = ['worse', 'better', 'same'];

interface Row {
  readonly scenario: Scenario;
  /** Against the published version; `same` where that was called alone. */
  readonly change: Change;
}

/** What a finished run found, worse scenarios first. */
function Result({ run: id, isStale }: { readonly run: string; readonly isStale: boolean }): ReactNode {
  const w = useWords(editWords);
  const e = useWords(evalsWords);
  const { data: run, error } = useQuery({
    queryKey: ['evals', id],
    queryFn: ({ signal }) => get<EvalRunView>(`/evals/runs/${id}`, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error !== null) return <Failure error={error} />;
  if (run === undefined) return null;
  const isDraft = run.draft === true;
  const rows: readonly Row[] = run.scenarios.map((scenario) => ({ scenario, change: changeOf(scenario) }));
  const count = (change: Change): number => rows.filter((row) => row.change === change).length;
  const passed = run.scenarios.filter(({ verdict }) => verdict === 'passed').length;
  const facts = [
    say(e.passedOf, { passed, all: rows.length }),
    ...(isDraft ? [say(w.evalWorse, { count: count('worse') }), say(w.evalBetter, { count: count('better') })] : []),
    ...(run.stopped ? [e.stopped] : []),
  ];
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Text size="sm" fw={600} component="output">
          {facts.join(' · ')}
        </Text>
        <Text size="sm" c="dimmed">
          <Moment at={run.startedAt} />
        </Text>
        <Anchor component={Link} href={`/evals/${id}`} size="sm" underline="always">
          {w.evalOpen}
        </Anchor>
      </Group>
      {isStale ? <Text size="sm">{w.evalStale}</Text> : null}
      <PlainTable
        label={e.scenario}
        rows={rows.toSorted((one, other) => ORDER.indexOf(one.change) - ORDER.indexOf(other.change))}
        keyOf={({ scenario }) => `${scenario.bot} ${scenario.where}`}
        columns={[
          { title: e.scenario, renderCell: ({ scenario }) => scenario.name },
          ...(isDraft ? [{ title: w.evalChange, renderCell: ({ change }: Row) => <ChangeBadge change={change} /> }] : []),
          {
            title: isDraft ? w.evalDraft : e.verdict,
            renderCell: ({ scenario }) => verdictText(e, scenario.verdict, scenario),
          },
          ...(isDraft
            ? [
                {
                  title: w.evalNow,
                  renderCell: ({ scenario: { before, callsBefore } }: Row) =>
                    before === undefined ? '–' : verdictText(e, before, callsBefore),
                },
              ]
            : []),
        ]}
      />
    </Stack>
  );
}

function ChangeBadge({ change }: Pick<Row, 'change'>): ReactNode {
  const w = useWords(editWords);
  return (
    <Badge color={COLORS[change]} variant="light" c="var(--mantine-color-text)" tt="none" fw={500} miw="max-content">
      {w[change]}
    </Badge>
  );
}

/** By the share of calls that passed; without calls of both versions nothing is said to have changed. */
function changeOf({ passed, runs, callsBefore }: Scenario): Change {
  if (callsBefore === undefined || callsBefore.runs === 0 || runs === 0) return 'same';
  const difference = passed / runs - callsBefore.passed / callsBefore.runs;
  return difference === 0 ? 'same' : difference > 0 ? 'better' : 'worse';
}

function verdictText(
  e: EvalsWords,
  verdict: Scenario['verdict'],
  calls: { readonly passed: number; readonly runs: number } | undefined,
): string {
  return calls === undefined || calls.runs < 2 ? e[verdict] : `${e[verdict]} ${calls.passed}/${calls.runs}`;
}
