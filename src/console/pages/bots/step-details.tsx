import { Anchor, Button, Group, Paper, ScrollArea, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { FlowGraphView } from '../../../http/api/bots/bot-views.ts';
import { query } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Headings } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import classes from './bots.module.css';
import type { Traffic } from './queries.ts';
import { type BotsWords, botsWords, endingWords } from './words.ts';

type Step = FlowGraphView['steps'][number];
type Edge = FlowGraphView['edges'][number];

/** One step: what is said and asked there, how many calls came, and how many ended there. */
export function StepDetails({
  bot,
  graph,
  step,
  traffic,
  close,
  choose,
}: {
  readonly bot: string;
  readonly graph: FlowGraphView;
  readonly step: Step;
  readonly traffic: Traffic;
  readonly close: () => void;
  readonly choose: (step: string) => void;
}): ReactNode {
  const w = useWords(botsWords);
  const endingNames = useWords(endingWords);
  const { calls } = traffic.of(step.id);
  const again = traffic.hops.get(`${step.id}>${step.id}`)?.times ?? 0;
  const ends = traffic.endsAt(step.id);
  const ways = graph.edges.filter(({ from }) => from === step.id);
  return (
    <Paper withBorder p="md" mt="md" component="section" aria-label={`${w.step} ${step.id}`}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {step.id}{' '}
          <Text span c="dimmed" size="sm">
            {w[step.kind]}
          </Text>
        </Title>
        <Button size="xs" variant="default" onClick={close}>
          {w.stepClose}
        </Button>
      </Group>
      <Stack gap="xs">
        {step.id === graph.start ? <Text size="sm">{w.begins}</Text> : null}
        {step.prompts.length === 0 ? null : <Fact name={w.says}>{step.prompts.map((text) => `“${text}”`).join(' ')}</Fact>}
        {step.slots.length === 0 ? null : <Fact name={w.asks}>{step.slots.join(', ')}</Fact>}
        {step.target === null || step.target === '' ? null : <Fact name={w.target}>{step.target}</Fact>}
        <Fact name={w.came}>
          {say(w.callsCounted, { count: calls })}
          {again > 0 ? ` · ${say(w.again, { count: again })}` : ''}
        </Fact>
        {ways.length === 0 ? null : (
          <Fact name={w.leadsTo}>
            {ways.map((way, index) => (
              <span key={way.to}>
                {index > 0 ? ' · ' : ''}
                <Anchor component="button" type="button" size="sm" underline="always" onClick={() => choose(way.to)}>
                  {way.to}
                </Anchor>{' '}
                ({reasonText(way, w)}; {traffic.hops.get(`${step.id}>${way.to}`)?.times ?? 0})
              </span>
            ))}
          </Fact>
        )}
        <Fact name={w.left}>{ends.length === 0 ? w.nobodyLeft : ''}</Fact>
        {ends.map(({ ending, endReason, calls: count, examples }) => (
          <Text key={`${ending} ${endReason}`} size="sm" className={`figures ${classes['wrap']}`}>
            <strong>{count}</strong> {endingNames[ending]} ({endReason}) · {w.examples}:{' '}
            {examples.slice(0, 3).map((id, index) => (
              <span key={id}>
                {index > 0 ? ', ' : ''}
                <Anchor component={Link} href={`/calls/${id}`} size="sm" underline="always">
                  {id.slice(0, 13)}
                </Anchor>
              </span>
            ))}
          </Text>
        ))}
        <Anchor component={Link} href={`/calls${query({ bot })}`} size="sm">
          {w.allCalls}
        </Anchor>
      </Stack>
    </Paper>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <Text size="sm" className={classes['wrap'] ?? ''}>
      <Text span c="dimmed" size="sm">
        {name}:{' '}
      </Text>
      {children}
    </Text>
  );
}

function reasonText({ when }: Edge, w: BotsWords): string {
  return when.map(({ kind, value = '' }) => say(w[kind], { value }).trim()).join(', ');
}

/** The same flow as a table. */
export function FlowTable({
  graph,
  traffic,
  current,
  choose,
}: {
  readonly graph: FlowGraphView;
  readonly traffic: Traffic;
  readonly current: string | undefined;
  readonly choose: (step: string) => void;
}): ReactNode {
  const w = useWords(botsWords);
  const format = useFormat();
  return (
    <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
      <Table miw={560} className="figures">
        <Headings names={[w.step, w.kind, w.asks, w.came, w.left, w.leadsTo]} />
        <Table.Tbody>
          {graph.steps.map((step) => {
            const { calls, lost } = traffic.of(step.id);
            const share = calls === 0 ? '' : ` (${format.share(lost, calls)})`;
            return (
              <Table.Tr key={step.id} aria-current={step.id === current ? 'step' : undefined}>
                <Table.Td>
                  <Anchor component="button" type="button" size="sm" underline="always" onClick={() => choose(step.id)}>
                    {step.id === current ? `▸ ${step.id}` : step.id}
                  </Anchor>
                </Table.Td>
                <Table.Td>{w[step.kind]}</Table.Td>
                <Table.Td>{step.slots.join(', ')}</Table.Td>
                <Table.Td>{format.number(calls)}</Table.Td>
                <Table.Td>{lost === 0 ? '0' : `${format.number(lost)}${share}`}</Table.Td>
                <Table.Td>
                  {graph.edges
                    .filter(({ from }) => from === step.id)
                    .map(({ to }) => to)
                    .join(', ')}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
