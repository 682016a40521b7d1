import { Alert, Anchor, Box, Breadcrumbs, Button, Group, Menu, Paper, Stack, Table, Tabs, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { useFormat } from '../../parts/format.ts';
import { Page, Failure, Loading } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { ContactsTable } from './contacts-table.tsx';
import { ImportPanel } from './import-panel.tsx';
import { Overview } from './overview.tsx';
import { StateOf, useWhy, type PlannedCampaign, PlanSummary } from './parts.tsx';
import {
  type CampaignAct,
  type CampaignDetail,
  type Progress,
  useCampaign,
  useChange,
  useChoices,
  useProgress,
} from './queries.ts';
import { Refusals } from './refusals.tsx';
import { campaignWords } from './words.ts';

const TABS = ['overview', 'contacts', 'refused', 'add', 'settings'] as const;
type Tab = (typeof TABS)[number];

/** One campaign: progress, reach, refusals; begin, pause and stop. */
export function CampaignPage(): ReactNode {
  const { id = '' } = useParams();
  const w = useWords(campaignWords);
  const campaign = useCampaign(id);
  const progress = useProgress(id);
  const failed = campaign.error ?? progress.error;
  if (campaign.data === undefined || progress.data === undefined)
    return (
      <Page title={w.campaign}>
        {failed === null ? (
          <Loading />
        ) : (
          <Failure error={failed} retry={() => void Promise.all([campaign.refetch(), progress.refetch()])} />
        )}
      </Page>
    );
  return <Shown detail={campaign.data} progress={progress.data} isStale={progress.error !== null} />;
}

function Shown({
  detail,
  progress,
  isStale,
}: {
  readonly detail: CampaignDetail;
  readonly progress: Progress;
  readonly isStale: boolean;
}): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const mayWrite = useMay('campaigns:write');
  const [search, setSearch] = useSearchParams();
  const { id } = detail;
  const { campaign, contacts, nextDueAt } = progress;
  const why = useWhy()(campaign, { nextDueAt, leased: contacts.states.leased });
  const wanted = TABS.find((each) => each === search.get('tab'));
  const mayAdd = mayWrite && campaign.state !== 'stopped' && campaign.erasedAt === null;
  const tab: Tab = wanted === undefined || (wanted === 'add' && !mayAdd) ? 'overview' : wanted;
  const refused = Object.values(progress.refusals).reduce((sum, count) => sum + count, 0);
  const titles: Readonly<Record<Tab, string>> = {
    overview: w.tabOverview,
    contacts: say(w.tabContacts, { count: format.number(contacts.total) }),
    refused: say(w.tabRefused, { count: format.number(refused) }),
    add: w.tabAdd,
    settings: w.tabSettings,
  };
  return (
    <Page title={campaign.name} actions={<Actions id={id} progress={progress} mayWrite={mayWrite} />}>
      <Breadcrumbs mb="xs" fz="sm">
        <Anchor component={Link} href="/campaigns" fz="sm">
          {w.campaigns}
        </Anchor>
        <Text fz="sm">{campaign.name}</Text>
      </Breadcrumbs>
      <Group gap="sm" mb="md" component="output">
        <StateOf state={campaign.state} />
        {why === undefined ? null : <Text fz="sm">{why}</Text>}
        {isStale ? <Text fz="sm">{w.stale}</Text> : null}
      </Group>
      {campaign.state === 'draft' ? <BeforeStart detail={detail} contacts={contacts.total} mayWrite={mayWrite} /> : null}
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) => setSearch(next === null || next === 'overview' ? {} : { tab: next }, { replace: true })}
      >
        <Tabs.List mb="md">
          {TABS.filter((each) => each !== 'add' || mayAdd).map((each) => (
            <Tabs.Tab key={each} value={each}>
              {titles[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="overview">
          <Overview id={id} progress={progress} />
        </Tabs.Panel>
        <Tabs.Panel value="contacts">
          <ContactsTable id={id} isRunning={campaign.state === 'running'} />
        </Tabs.Panel>
        <Tabs.Panel value="refused">
          <Refusals id={id} progress={progress} />
        </Tabs.Panel>
        <Tabs.Panel value="add">
          <ImportPanel id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Settings settings={detail.settings} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** What a start would do, and what it lacks. */
function BeforeStart({
  detail,
  contacts,
  mayWrite,
}: {
  readonly detail: CampaignDetail;
  readonly contacts: number;
  readonly mayWrite: boolean;
}): ReactNode {
  const w = useWords(campaignWords);
  const { data } = useChoices();
  const { missing, settings, profile } = detail;
  return (
    <Stack gap="sm" mb="md">
      <PlanSummary
        campaign={settings as PlannedCampaign}
        profile={data?.profiles.find(({ name }) => name === profile)}
        contacts={contacts}
      />
      {missing.length === 0 ? null : (
        <Alert variant="default" title={w.missing}>
          <Box component="ul" className="lines">
            {missing.map(({ missing: name, detail: text }) => (
              <li key={`${name} ${text}`}>{text}</li>
            ))}
          </Box>
          {mayWrite && contacts === 0 ? (
            <Anchor component={Link} href={`/campaigns/${detail.id}?tab=add`} fz="sm">
              {w.tabAdd}
            </Anchor>
          ) : null}
        </Alert>
      )}
    </Stack>
  );
}

function Actions({
  id,
  progress,
  mayWrite,
}: {
  readonly id: string;
  readonly progress: Progress;
  readonly mayWrite: boolean;
}): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const change = useChange(id);
  const { campaign, contacts } = progress;
  const act = (name: CampaignAct) => (reason: string | undefined) => change.mutateAsync({ act: name, reason });
  const { state } = campaign;
  const left = format.number(contacts.total - contacts.states.done);
  return (
    <>
      {mayWrite && (state === 'draft' || (state === 'finished' && contacts.total > contacts.states.done)) ? (
        <ConfirmButton label={w.start} title={w.startTitle} act={act('start')} variant="filled">
          {say(w.startText, { count: left })}
        </ConfirmButton>
      ) : null}
      {mayWrite && state === 'running' ? (
        <ConfirmButton label={w.pause} title={w.pauseTitle} act={act('pause')} reason="optional">
          {w.pauseText}
        </ConfirmButton>
      ) : null}
      {mayWrite && state === 'paused' ? (
        <ConfirmButton label={w.resume} title={w.resumeTitle} act={act('resume')} variant="filled">
          {say(w.resumeText, { count: left })}
        </ConfirmButton>
      ) : null}
      {mayWrite && (state === 'running' || state === 'paused' || state === 'draft') ? (
        <ConfirmButton label={w.stop} title={w.stopTitle} act={act('stop')} reason="optional" color="red" variant="default">
          {say(w.stopText, { count: left })}
        </ConfirmButton>
      ) : null}
      <Menu>
        <Menu.Target>
          <Button variant="default">{w.export}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={`/api/campaigns/${id}/results`} download>
            {w.exportContacts}
          </Menu.Item>
          <Menu.Item component="a" href={`/api/campaigns/${id}/report?format=csv`} download>
            {w.exportReport}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** All settings as the API has them, defaults included. */
function Settings({ settings }: { readonly settings: unknown }): ReactNode {
  const w = useWords(campaignWords);
  const rows = Object.entries(settings as Readonly<Record<string, unknown>>);
  return (
    <Paper withBorder p="sm">
      <Table>
        <caption className="mantine-visually-hidden">{w.tabSettings}</caption>
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={500} w={180}>
                {name}
              </Table.Th>
              <Table.Td>
                <Text fz="sm" ff="monospace" className="wrap">
                  {typeof value === 'string' ? value : JSON.stringify(value)}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
