import { Alert, Autocomplete, Button, Grid, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { post, Refused } from '../../api.ts';
import { Page, Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { type Draft, firstDraft, settingsOf } from './campaign-draft.ts';
import { PaceFields, RetryFields, TimeFields, WhoFields } from './campaign-fields.tsx';
import { HoursFields } from './hours-fields.tsx';
import { PlanSummary } from './parts.tsx';
import { type CampaignDetail, type Choices, useChoices } from './queries.ts';
import { campaignWords } from './words.ts';

/** Creates a campaign without calling: contacts are added next. */
export function NewCampaignPage(): ReactNode {
  const w = useWords(campaignWords);
  const { data, error, refetch } = useChoices();
  return (
    <Page title={w.newCampaign}>
      {error !== null && data === undefined ? <Failure error={error} retry={() => void refetch()} /> : null}
      {error === null && data === undefined ? <Loading /> : null}
      {data === undefined ? null : <CampaignForm choices={data} />}
    </Page>
  );
}

/** Fields that show their own problems. */
const FIELDS = [
  'name',
  'bot',
  'from',
  'profile',
  'purpose',
  'registrations',
  'narrowing',
  'defaultZone',
  'callsPerSecond',
  'concurrency',
  'attempts',
  'startsAt',
  'endsAt',
];

function CampaignForm({ choices }: { readonly choices: Choices }): ReactNode {
  const w = useWords(campaignWords);
  const [, go] = useLocation();
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => firstDraft(choices));
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }));
  const written = settingsOf(draft);
  const made = useMutation({
    mutationFn: () => post<CampaignDetail>('/campaigns', written),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ['campaigns'] });
      go(`/campaigns/${id}?tab=add`);
    },
  });
  const issues = made.error instanceof Refused ? made.error.issues : [];
  const errorAt = (path: string): string | undefined =>
    issues.find((issue) => issue.path === path || issue.path.startsWith(`${path}.`))?.message;
  const given = { draft, choices, set, errorAt };
  const profile = choices.profiles.find(({ name }) => name === draft.profile);
  const elsewhere = issues.filter(({ path }) => !FIELDS.some((field) => path === field || path.startsWith(`${field}.`)));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        made.mutate();
      }}
      noValidate
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            {issues.length > 0 ? (
              <Alert color="red" role="alert" title={w.formWrong}>
                {elsewhere.map(({ path, message }) => `${path} ${message}`).join(' ')}
              </Alert>
            ) : null}
            {made.error !== null && issues.length === 0 ? <Failure error={made.error} /> : null}
            <TextInput
              label={w.name}
              required
              value={draft.name}
              error={errorAt('name')}
              onChange={({ currentTarget }) => set({ name: currentTarget.value })}
            />
            <WhoFields {...given} />
            <HoursFields rows={draft.hours} change={(hours) => set({ hours })} errorAt={errorAt} />
            <Autocomplete
              label={w.defaultZone}
              description={w.defaultZoneHint}
              data={Intl.supportedValuesOf('timeZone')}
              limit={20}
              value={draft.defaultZone}
              error={errorAt('defaultZone')}
              onChange={(defaultZone) => set({ defaultZone })}
            />
            <PaceFields {...given} />
            <RetryFields {...given} />
            <TimeFields {...given} />
            <Group>
              <Button type="submit" loading={made.isPending}>
                {w.makeDraft}
              </Button>
            </Group>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <PlanSummary campaign={written} profile={profile} contacts={0} />
            {profile === undefined ? null : (
              <Paper withBorder p="md">
                <Text fw={600} fz="sm" mb={4}>
                  {say(w.profileNotice, { profile: profile.name })}
                </Text>
                <Text fz="sm">{profile.notice}</Text>
              </Paper>
            )}
          </Stack>
        </Grid.Col>
      </Grid>
    </form>
  );
}
