import { Anchor, Badge, Card, Code, Group, ScrollArea, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import type { EvalRunView } from '../../../http/api/evals/eval-routes.ts';
import { get } from '../../api.ts';
import { Failure, Headings, Loading, Moment, Page } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { evalsWords } from './words.ts';

type Scenario = EvalRunView['scenarios'][number];
type Call = Scenario['calls'][number];

const COLORS = { passed: 'green', failed: 'red', flaky: 'yellow', skipped: 'gray' } as const;

/** One run of evals: each scenario with its verdict; the transcript and sound of failed calls. */
export function EvalPage(): ReactNode {
  const w = useWords(evalsWords);
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: ['evals', id],
    queryFn: ({ signal }) => get<EvalRunView>(`/evals/runs/${encodeURIComponent(id)}`, signal),
  });
  return (
    <Page title={w.title}>
      <Anchor component={Link} href="/evals" size="sm" underline="always">
        {w.back}
      </Anchor>
      {error === null ? null : <Failure error={error} retry={() => void refetch()} />}
      {data === undefined ? error === null ? <Loading /> : null : <Run run={data} />}
    </Page>
  );
}

function Run({ run }: { readonly run: EvalRunView }): ReactNode {
  const w = useWords(evalsWords);
  const failed = run.scenarios.filter(({ calls }) => calls.length > 0);
  return (
    <Stack gap="md" mt="sm">
      <Text size="sm" c="dimmed">
        <Moment at={run.startedAt} /> · {run.depth} · {run.suites.map(({ bot, version }) => `${bot} ${version}`).join(', ')}
        {run.draft === true ? ` · ${w.draftRun}` : ''}
        {run.stopped ? ` · ${w.stopped}` : ''}
      </Text>
      {failed.map((scenario) => (
        <Failed key={`${scenario.bot} ${scenario.name}`} run={run.id} scenario={scenario} />
      ))}
      <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
        <Table verticalSpacing={6} miw={620}>
          <Headings names={[w.scenario, w.bot, w.verdict, w.calls, w.reply]} />
          <Table.Tbody>
            {run.scenarios.map((scenario) => (
              <Row key={`${scenario.bot} ${scenario.name}`} scenario={scenario} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
    </Stack>
  );
}

function Row({ scenario }: { readonly scenario: Scenario }): ReactNode {
  const { name, bot, passed, runs, interval, replyP95Ms } = scenario;
  const share = runs > 1 ? ` (${Math.round(interval.least * 100)}–${Math.round(interval.most * 100)} %)` : '';
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td>{bot}</Table.Td>
      <Table.Td>
        <Verdict scenario={scenario} />
      </Table.Td>
      <Table.Td className="figures">{`${passed}/${runs}${share}`}</Table.Td>
      <Table.Td className="figures">{replyP95Ms === undefined ? '–' : `${replyP95Ms} ms`}</Table.Td>
    </Table.Tr>
  );
}

function Verdict({ scenario: { verdict, before } }: { readonly scenario: Scenario }): ReactNode {
  const w = useWords(evalsWords);
  const isChanged = before !== undefined && before !== 'skipped' && (before === 'passed') !== (verdict === 'passed');
  return (
    <Group gap="xs" wrap="nowrap">
      <Badge color={COLORS[verdict]} variant="light" c="var(--mantine-color-text)" tt="none" fw={500}>
        {w[verdict]}
      </Badge>
      {isChanged && verdict !== 'skipped' ? (
        <Text size="xs" c="dimmed">
          {before === 'passed' ? w.wasPassed : w.wasFailed}
        </Text>
      ) : null}
    </Group>
  );
}

function Failed({ run, scenario }: { readonly run: string; readonly scenario: Scenario }): ReactNode {
  const { name, about, where, calls } = scenario;
  return (
    <Card withBorder component="section" aria-label={name}>
      <Group justify="space-between" wrap="nowrap">
        <Text fw={600}>{name}</Text>
        <Verdict scenario={scenario} />
      </Group>
      {about === undefined ? null : <Text size="sm">{about}</Text>}
      <Text size="xs" c="dimmed" ff="monospace">
        {where}
      </Text>
      {calls.map((call) => (
        <FailedCall key={call.seed} run={run} call={call} />
      ))}
    </Card>
  );
}

function FailedCall({ run, call }: { readonly run: string; readonly call: Call }): ReactNode {
  const w = useWords(evalsWords);
  return (
    <Stack gap={4} mt="sm">
      {call.unmet.map(({ where, expected, got }, index) => (
        <Text key={`${where} ${index}`} size="sm">
          <b>{w.expected}</b> {expected} · <b>{w.got}</b> {got}{' '}
          <Text span size="xs" c="dimmed" ff="monospace">
            {where}
          </Text>
        </Text>
      ))}
      {call.sound === undefined ? null : (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- its words are below
        <audio
          controls
          preload="none"
          src={`/api/evals/runs/${run}/sounds/${call.sound}`}
          aria-label={w.sound}
          style={{ width: '100%' }}
        />
      )}
      {call.lines.map((line, index) => (
        <Group
          key={`${line.turn} ${index}`}
          gap="sm"
          wrap="nowrap"
          align="start"
          {...(line.shown ? { bg: 'var(--mantine-color-red-light)' } : {})}
        >
          <Text size="sm" c="dimmed" w={64} style={{ flexShrink: 0 }}>
            {line.who === 'bot' ? w.bot : w.caller}
          </Text>
          <Text size="sm">
            {line.text}
            {line.meant === undefined ? null : (
              <Text span size="sm" c="dimmed" td="line-through" title={w.notHeard}>
                {' '}
                {line.meant}
              </Text>
            )}
          </Text>
        </Group>
      ))}
      <Text size="xs" c="dimmed">
        {say(w.seed, { seed: call.seed, end: call.end })}{' '}
        {Object.entries(call.variables).map(([name, value]) => (
          <Code key={name} mr={6}>{`${name} = ${value}`}</Code>
        ))}
      </Text>
    </Stack>
  );
}
