import { Box, Grid, Group, Paper, Progress as Bar, Stack, Table, Text, Title } from '@mantine/core';
import { type ReactNode, Suspense, useMemo } from 'react';
import { useFormat } from '../../parts/format.ts';
import { loaded } from '../../parts/loaded.ts';
import type { PlotLine } from '../../parts/plot.tsx';
import { Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { dispositionWords } from './disposition-words.ts';
import { HoursMap } from './hours-map.tsx';
import { Figure } from './parts.tsx';
import type { Progress } from './queries.ts';
import { campaignWords } from './words.ts';

const Plot = loaded(() => import('../../parts/plot.tsx'), 'Plot');

/** A campaign at a glance. */
export function Overview({ id, progress }: { readonly id: string; readonly progress: Progress }): ReactNode {
  const w = useWords(campaignWords);
  const { campaign, pace } = progress;
  const hasBegun = campaign.startedAt !== null;
  return (
    <Stack>
      <Figures progress={progress} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section title={w.funnel}>
            <Funnel progress={progress} />
          </Section>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section title={w.dispositions}>
            <Dispositions progress={progress} />
          </Section>
        </Grid.Col>
      </Grid>
      {hasBegun ? (
        <Section title={w.paceTitle}>
          <Suspense fallback={<Loading />}>
            <PaceChart pace={pace} callsPerSecond={campaign.callsPerSecond} />
          </Suspense>
        </Section>
      ) : null}
      <Section title={w.hoursTitle}>
        <HoursMap id={id} />
      </Section>
    </Stack>
  );
}

const PACE_PX = 200;
/** Calls a minute that were placed, and answered, against the pace that is set. */
function PaceChart({ pace, callsPerSecond }: { readonly pace: Progress['pace']; readonly callsPerSecond: number }): ReactNode {
  const w = useWords(campaignWords);
  const { number } = useFormat();
  const lines = useMemo(
    (): readonly PlotLine[] => [
      { name: w.placed, look: 'first' },
      { name: w.answered, look: 'second' },
      { name: w.setPace, look: 'limit' },
    ],
    [w],
  );
  const { timesMs, values } = useMemo(() => {
    const perMinute = (count: number): number => (count * 60) / pace.everySeconds;
    return {
      timesMs: pace.placed.map((_, index) => Date.parse(pace.from) + index * pace.everySeconds * 1000),
      values: [pace.placed.map(perMinute), pace.answered.map(perMinute), pace.placed.map(() => callsPerSecond * 60)],
    };
  }, [pace, callsPerSecond]);
  const total = pace.placed.reduce((sum, count) => sum + count, 0);
  return (
    <Box>
      <Text fz="xs" c="dimmed" mb={4}>
        {w.perMinute}
      </Text>
      <Box
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a canvas and its legend are one picture
        role="img"
        aria-label={say(w.paceLabel, { total: number(total), set: number(callsPerSecond * 60) })}
        mih={PACE_PX + 30}
      >
        <Plot heightPx={PACE_PX} timesMs={timesMs} values={values} lines={lines} valueText={number} stepped />
      </Box>
    </Box>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="md" h="100%">
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function Figures({ progress }: { readonly progress: Progress }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { contacts, reached, pace } = progress;
  const text = (value: number): string => format.number(value);
  const lastMinute = pace.placed.slice(-Math.max(1, Math.round(60 / pace.everySeconds))).reduce((sum, count) => sum + count, 0);
  return (
    <Group gap="xl" align="start">
      <Figure name={w.figureContacts} value={text(contacts.total)} />
      <Figure name={w.figureDone} value={text(contacts.states.done)} note={format.share(contacts.states.done, contacts.total)} />
      <Figure name={w.figureWaiting} value={text(contacts.states.pending + contacts.states.waiting)} />
      <Figure name={w.figureNow} value={text(contacts.states.leased)} />
      <Figure name={w.figurePeople} value={text(reached.person)} note={format.share(reached.person, reached.called)} />
      {progress.campaign.state === 'running' && pace.everySeconds <= 60 ? (
        <Figure name={w.figureLastMinute} value={text(lastMinute)} />
      ) : null}
    </Group>
  );
}

/** People at each step, each counted once, and the share of the step before. */
function Funnel({ progress }: { readonly progress: Progress }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { contacts, reached } = progress;
  const steps = [
    { name: w.funnelContacts, count: contacts.total, of: contacts.total },
    { name: w.funnelCalled, count: reached.called, of: contacts.total },
    { name: w.funnelAnswered, count: reached.answered, of: reached.called },
    { name: w.funnelPerson, count: reached.person, of: reached.answered },
    { name: w.funnelDone, count: contacts.states.done, of: contacts.total },
  ];
  return (
    <Stack gap="xs" component="ol" className="plain-list">
      {steps.map(({ name, count, of }, index) => (
        <Box component="li" key={name}>
          <Group justify="space-between" gap="xs">
            <Text fz="sm">{name}</Text>
            <Text fz="sm" className="figures" fw={500}>
              {format.number(count)}
              {index === 0 ? null : (
                <Text span c="dimmed" fz="xs">
                  {' '}
                  {format.share(count, of)}
                </Text>
              )}
            </Text>
          </Group>
          <Bar
            value={contacts.total === 0 ? 0 : (count / contacts.total) * 100}
            aria-label={`${name}: ${count}`}
            size="lg"
            radius="xs"
          />
        </Box>
      ))}
    </Stack>
  );
}

function Dispositions({ progress }: { readonly progress: Progress }): ReactNode {
  const w = useWords(campaignWords);
  const names = useWords(dispositionWords);
  const format = useFormat();
  const { contacts } = progress;
  const rows = Object.entries(contacts.outcomes)
    .flatMap(([name, count]) => (count === undefined ? [] : [{ name: name as keyof typeof names, count }]))
    .sort((one, other) => other.count - one.count);
  if (rows.length === 0) return <Text c="dimmed">{w.nothingYet}</Text>;
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{w.disposition}</Table.Th>
          <Table.Th ta="right">{w.figureContacts}</Table.Th>
          <Table.Th ta="right">{w.share}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ name, count }) => (
          <Table.Tr key={name}>
            <Table.Td>{names[name] ?? name}</Table.Td>
            <Table.Td ta="right" className="figures">
              {format.number(count)}
            </Table.Td>
            <Table.Td ta="right" className="figures">
              {format.share(count, contacts.states.done)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
