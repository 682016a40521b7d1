import { Anchor, Badge, Box, Button, Grid, Group, ScrollArea, SegmentedControl, Select, Table, Tabs, Text } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { BotView } from '../../../http/api/bots/bot-views.ts';
import { useFormat } from '../../parts/format.ts';
import { Headings, Page, Empty, Failure, Loading } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import classes from './bots.module.css';
import { BotChat, type ChatPlace } from './chat.tsx';
import { useVersions } from './edit/queries.ts';
import { Versions } from './edit/versions.tsx';
import { editWords } from './edit/words.ts';
import { FlowGraph } from './flow-graph.tsx';
import { Outcomes } from './outcomes.tsx';
import { Health, Problems, RefusedReload } from './problems.tsx';
import { type Counted, useBot, usePaths, useStats, trafficOf } from './queries.ts';
import { FlowTable, StepDetails } from './step-details.tsx';
import { botsWords } from './words.ts';

const PERIODS = [1, 7, 30, 90, 365] as const;

/** One bot: its flow with the calls' paths on it, a chat beside it, outcomes, problems and settings. */
export function BotPage(): ReactNode {
  const w = useWords(botsWords);
  const e = useWords(editWords);
  const mayEdit = useMay('bots:write');
  const { name } = useParams<{ name: string }>();
  const { data: bot, error, refetch } = useBot(name);
  const [counted, setCounted] = useState<Counted>({ days: 30, version: undefined });
  if (bot === undefined)
    return <Page title={name}>{error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />}</Page>;
  return (
    <Page
      title={bot.name}
      actions={
        <>
          {mayEdit ? (
            <Button component={Link} href={`/bots/${bot.name}/edit`} size="xs">
              {e.edit}
            </Button>
          ) : null}
          <Anchor component={Link} href="/bots" size="sm">
            {w.back}
          </Anchor>
        </>
      }
    >
      <Group gap="md" mb="md">
        <Badge variant="default">{bot.kind}</Badge>
        <Text size="sm">{bot.languages.join(', ')}</Text>
        <Text size="sm" className="figures">
          {w.version} {bot.version ?? '–'}
        </Text>
        <Health bot={bot} />
      </Group>
      <RefusedReload reload={bot.lastReload} />
      <Problems title={w.problems} problems={bot.problems} />
      <Choice bot={bot} counted={counted} setCounted={setCounted} />
      <Tabs defaultValue="flow" keepMounted={false} mt="md">
        <Tabs.List mb="md">
          <Tabs.Tab value="flow">{bot.kind === 'flow' ? w.flow : w.chatTab}</Tabs.Tab>
          <Tabs.Tab value="outcomes">{w.outcomes}</Tabs.Tab>
          <Tabs.Tab value="versions">{e.versions}</Tabs.Tab>
          <Tabs.Tab value="settings">{w.settings}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="flow">
          <FlowAndChat bot={bot} counted={counted} />
        </Tabs.Panel>
        <Tabs.Panel value="outcomes">
          <Outcomes bot={bot.name} counted={counted} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Versions bot={bot.name} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <SettingsTable settings={bot.settings} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Choice({
  bot,
  counted,
  setCounted,
}: {
  readonly bot: BotView;
  readonly counted: Counted;
  readonly setCounted: (counted: Counted) => void;
}): ReactNode {
  const w = useWords(botsWords);
  const { data } = useStats(bot.name, { ...counted, version: undefined });
  const versions = [...new Set([bot.version, counted.version, ...(data?.versions?.map(({ version }) => version) ?? [])])];
  const known = versions.filter((version) => version !== null && version !== undefined);
  const published = useVersions(bot.name).data?.versions;
  const named = (id: string): string => {
    const number = published?.find((version) => version.id === id)?.number;
    return number === undefined ? id : `${number} · ${id}`;
  };
  return (
    <Group gap="md" align="end">
      <Select
        label={w.period}
        size="xs"
        w={140}
        allowDeselect={false}
        value={String(counted.days)}
        data={PERIODS.map((count) => ({ value: String(count), label: say(w.days, { count }) }))}
        onChange={(days) => setCounted({ ...counted, days: Number(days ?? 30) })}
      />
      <Select
        label={w.version}
        size="xs"
        w={190}
        allowDeselect={false}
        value={counted.version ?? ''}
        data={[{ value: '', label: w.allVersions }, ...known.map((version) => ({ value: version, label: named(version) }))]}
        onChange={(version) => setCounted({ ...counted, version: version === '' || version === null ? undefined : version })}
      />
    </Group>
  );
}

function FlowAndChat({ bot, counted }: { readonly bot: BotView; readonly counted: Counted }): ReactNode {
  const w = useWords(botsWords);
  const format = useFormat();
  const { data: paths } = usePaths(bot.name, counted);
  const [view, setView] = useState<'graph' | 'table'>('graph');
  const [chosen, choose] = useState<string | undefined>();
  const [place, setPlace] = useState<ChatPlace>({ step: undefined, walked: [] });
  const traffic = useMemo(() => trafficOf(paths), [paths]);
  const walked = useMemo(() => new Set(place.walked), [place]);
  const { graph } = bot;
  const step = graph?.steps.find(({ id }) => id === chosen);
  const count = format.number(paths?.calls ?? 0);
  if (bot.kind !== 'flow')
    return (
      <Box maw={620}>
        <BotChat bot={bot.name} onPlace={setPlace} />
      </Box>
    );
  return (
    <Grid>
      <Grid.Col span={{ base: 12, lg: 8 }}>
        {graph === null ? (
          <Empty title={w.noGraph}>{w.problemsHint}</Empty>
        ) : (
          <>
            <Group justify="space-between" mb="xs">
              <Text size="sm" className="figures">
                {paths?.calls === 0 ? w.noPaths : say(paths?.more === true ? w.callsMore : w.callsCounted, { count })}
              </Text>
              <SegmentedControl
                size="xs"
                aria-label={w.view}
                value={view}
                onChange={(next) => setView(next === 'table' ? 'table' : 'graph')}
                data={[
                  { value: 'graph', label: w.graph },
                  { value: 'table', label: w.table },
                ]}
              />
            </Group>
            {graph.hours === null ? null : (
              <Text size="sm" mb="xs">
                {say(w.hours, { zone: graph.hours.timeZone, open: graph.hours.open.join(' · ') })}{' '}
                {graph.hours.holidays.length === 0 ? '' : say(w.holidays, { days: graph.hours.holidays.join(' · ') })}
              </Text>
            )}
            {view === 'graph' ? (
              <FlowGraph
                bot={bot.name}
                graph={graph}
                traffic={traffic}
                chosen={chosen}
                current={place.step}
                walked={walked}
                choose={choose}
              />
            ) : (
              <FlowTable graph={graph} traffic={traffic} current={place.step} choose={choose} />
            )}
            {step === undefined ? null : (
              <StepDetails
                bot={bot.name}
                graph={graph}
                step={step}
                traffic={traffic}
                close={() => choose(undefined)}
                choose={choose}
              />
            )}
          </>
        )}
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }}>
        <BotChat bot={bot.name} onPlace={setPlace} />
      </Grid.Col>
    </Grid>
  );
}

function SettingsTable({ settings }: { readonly settings: BotView['settings'] }): ReactNode {
  const w = useWords(botsWords);
  return (
    <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
      <Table miw={420}>
        <Headings names={[w.setting, w.value]} />
        <Table.Tbody>
          {settings.map(({ key, value }) => (
            <Table.Tr key={key}>
              <Table.Td>{key}</Table.Td>
              <Table.Td className={classes['wrap'] ?? ''}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
