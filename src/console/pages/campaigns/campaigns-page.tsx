import { Anchor, Box, Button, Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../parts/format.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
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
  const format = useFormat();
  return (
    <PlainTable
      label={w.campaigns}
      rows={campaigns}
      keyOf={({ id }) => id}
      columns={[
        {
          title: w.name,
          renderCell: ({ id, name }) => (
            <Anchor component={Link} href={`/campaigns/${id}`} fw={500}>
              {name}
            </Anchor>
          ),
        },
        { title: w.state, renderCell: (campaign) => <State campaign={campaign} /> },
        { title: w.progress, renderCell: (campaign) => <Done campaign={campaign} /> },
        {
          title: w.pace,
          atEnd: true,
          renderCell: ({ state, placedLastMinute, callsPerSecond }) =>
            state === 'running'
              ? say(w.paceOf, { now: format.number(placedLastMinute), set: format.number(callsPerSecond * 60) })
              : '–',
        },
        { title: w.bot, renderCell: ({ bot }) => bot },
        { title: w.made, renderCell: ({ createdAt }) => <Moment at={createdAt} /> },
      ]}
    />
  );
}

function State({ campaign }: { readonly campaign: CampaignItem }): ReactNode {
  const { state, contacts, nextDueAt } = campaign;
  const why = useWhy()(campaign, { nextDueAt, leased: contacts.states.leased });
  return (
    <Box maw={280}>
      <StateOf state={state} />
      {why === undefined ? null : (
        <Text fz="xs" c="dimmed">
          {why}
        </Text>
      )}
    </Box>
  );
}

/** How many contacts are done with. */
function Done({ campaign: { name, contacts } }: { readonly campaign: CampaignItem }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { done } = contacts.states;
  const of = say(w.doneOf, { done: format.number(done), total: format.number(contacts.total) });
  return (
    <Group gap="xs" wrap="nowrap" miw={180}>
      <Progress value={contacts.total === 0 ? 0 : (done / contacts.total) * 100} flex={1} aria-label={`${name}: ${of}`} />
      <Text fz="xs" className="figures" c="dimmed">
        {of}
      </Text>
    </Group>
  );
}
