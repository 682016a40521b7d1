import { Anchor, Button, Group, Progress, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../parts/format.ts';
import { Page, Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { StateOf, useWhy } from './parts.tsx';
import { type CampaignItem, useCampaigns } from './queries.ts';
import { campaignWords } from './words.ts';

/** All campaigns: how far each is, how fast it calls, and why it does not. */
export function CampaignsPage(): ReactNode {
  const w = useWords(campaignWords);
  const mayMake = useMay('campaigns:write');
  const maySeeLists = useMay('dialling:read');
  const { data, error, refetch } = useCampaigns();
  const make = (
    <Button component={Link} href="/campaigns/new">
      {w.newCampaign}
    </Button>
  );
  return (
    <Page
      title={w.campaigns}
      actions={
        <>
          {maySeeLists ? (
            <Button component={Link} href="/campaigns/lists" variant="default">
              {w.lists}
            </Button>
          ) : null}
          {mayMake ? make : null}
        </>
      }
    >
      {error !== null && data === undefined ? <Failure error={error} retry={() => void refetch()} /> : null}
      {error === null && data === undefined ? <Loading /> : null}
      {data?.campaigns.length === 0 ? (
        <Empty title={w.noCampaigns}>
          <Stack component="span" gap="sm" align="center" display="flex">
            {w.noCampaignsHint}
            {mayMake ? make : null}
          </Stack>
        </Empty>
      ) : null}
      {data !== undefined && data.campaigns.length > 0 ? <CampaignTable campaigns={data.campaigns} /> : null}
    </Page>
  );
}

function CampaignTable({ campaigns }: { readonly campaigns: readonly CampaignItem[] }): ReactNode {
  const w = useWords(campaignWords);
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table verticalSpacing="sm" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{w.name}</Table.Th>
            <Table.Th>{w.state}</Table.Th>
            <Table.Th w={220}>{w.progress}</Table.Th>
            <Table.Th ta="right">{w.pace}</Table.Th>
            <Table.Th>{w.bot}</Table.Th>
            <Table.Th>{w.made}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {campaigns.map((campaign) => (
            <CampaignRow key={campaign.id} campaign={campaign} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function CampaignRow({ campaign }: { readonly campaign: CampaignItem }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { id, name, state, bot, createdAt, contacts, placedLastMinute, callsPerSecond, nextDueAt } = campaign;
  const why = useWhy()(campaign, { nextDueAt, leased: contacts.states.leased });
  const { done } = contacts.states;
  const of = say(w.doneOf, { done: format.number(done), total: format.number(contacts.total) });
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/campaigns/${id}`} fw={500}>
          {name}
        </Anchor>
      </Table.Td>
      <Table.Td maw={280}>
        <StateOf state={state} />
        {why === undefined ? null : (
          <Text fz="xs" c="dimmed">
            {why}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <Progress value={contacts.total === 0 ? 0 : (done / contacts.total) * 100} flex={1} aria-label={`${name}: ${of}`} />
          <Text fz="xs" className="figures" c="dimmed">
            {of}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td ta="right" className="figures">
        {state === 'running'
          ? say(w.paceOf, { now: format.number(placedLastMinute), set: format.number(callsPerSecond * 60) })
          : '–'}
      </Table.Td>
      <Table.Td>{bot}</Table.Td>
      <Table.Td>
        <Moment at={createdAt} />
      </Table.Td>
    </Table.Tr>
  );
}
