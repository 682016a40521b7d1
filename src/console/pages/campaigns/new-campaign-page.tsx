import {
  Alert,
  Autocomplete,
  Button,
  Fieldset,
  Grid,
  Group,
  NumberInput,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { post, Refused } from '../../api.ts';
import { Page, Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { dispositionWords } from './disposition-words.ts';
import { type HoursRow, HoursFields, writtenHours } from './hours-fields.tsx';
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

/** Outcomes with retries in the form; the others use defaults. */
const RETRIED = ['no-answer', 'busy', 'mailbox', 'failed'] as const;
type Retried = (typeof RETRIED)[number];

interface Draft {
  readonly name: string;
  readonly bot: string;
  readonly from: readonly string[];
  readonly profile: string;
  readonly purpose: string;
  readonly registrations: Readonly<Record<string, string>>;
  readonly hours: readonly HoursRow[];
  readonly defaultZone: string;
  readonly callsPerSecond: number | string;
  readonly concurrency: number | string;
  readonly most: number | string;
  readonly retries: Readonly<Partial<Record<Retried, { readonly after: string; readonly most: number | string }>>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

function CampaignForm({ choices }: { readonly choices: Choices }): ReactNode {
  const w = useWords(campaignWords);
  const names = useWords(dispositionWords);
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
  const profile = choices.profiles.find(({ name }) => name === draft.profile);
  const registrations = profile?.registrations.filter(
    ({ purposes }) => purposes === null || draft.purpose === '' || purposes.some((each) => each === draft.purpose),
  );
  const fields = [
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
  const elsewhere = issues.filter(({ path }) => !fields.some((field) => path === field || path.startsWith(`${field}.`)));
  const limits = (path: readonly string[]) => limitsOf(choices.schema, path);
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
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <Select
                label={w.bot}
                required
                data={[...choices.bots]}
                value={draft.bot}
                error={errorAt('bot')}
                searchable
                onChange={(bot) => set({ bot: bot ?? '' })}
              />
              <TagsInput
                label={w.callerIds}
                description={w.callerIdsHint}
                required
                data={choices.callerIds.filter(({ isSeries }) => !isSeries).map(({ number }) => number)}
                value={[...draft.from]}
                error={errorAt('from')}
                onChange={(from) => set({ from })}
              />
            </SimpleGrid>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <Select
                label={w.profile}
                description={w.profileHint}
                required
                data={choices.profiles.map(({ name }) => name)}
                value={draft.profile}
                error={errorAt('profile')}
                onChange={(name) => set({ profile: name ?? '' })}
              />
              <Select
                label={w.purpose}
                description={profile?.purposeRequired === true ? w.purposeNeeded : w.purposeHint}
                data={[...(profile?.purposes ?? [])]}
                value={draft.purpose === '' ? null : draft.purpose}
                error={errorAt('purpose')}
                clearable
                onChange={(purpose) => set({ purpose: purpose ?? '' })}
              />
            </SimpleGrid>
            {(registrations ?? []).map(({ name }) => (
              <TextInput
                key={name}
                label={name}
                description={w.registrationHint}
                value={draft.registrations[name] ?? ''}
                error={errorAt(`registrations.${name}`)}
                onChange={({ currentTarget }) => set({ registrations: { ...draft.registrations, [name]: currentTarget.value } })}
              />
            ))}
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
            <SimpleGrid cols={{ base: 1, xs: 3 }}>
              <NumberInput
                label={w.rate}
                description={say(w.accountAllows, { most: choices.most.callsPerSecond })}
                value={draft.callsPerSecond}
                error={errorAt('callsPerSecond')}
                {...limits(['callsPerSecond'])}
                clampBehavior="none"
                onChange={(callsPerSecond) => set({ callsPerSecond })}
              />
              <NumberInput
                label={w.concurrency}
                description={
                  choices.most.concurrency === null ? w.concurrencyHint : say(w.accountAllows, { most: choices.most.concurrency })
                }
                value={draft.concurrency}
                error={errorAt('concurrency')}
                {...limits(['concurrency'])}
                clampBehavior="none"
                onChange={(concurrency) => set({ concurrency })}
              />
              <NumberInput
                label={w.mostAttempts}
                description={w.mostAttemptsHint}
                value={draft.most}
                error={errorAt('attempts.most')}
                {...limits(['attempts', 'most'])}
                clampBehavior="none"
                onChange={(most) => set({ most })}
              />
            </SimpleGrid>
            <Fieldset legend={w.retries}>
              <Stack gap="xs">
                {RETRIED.map((outcome) => {
                  const usual = choices.retries[outcome];
                  const own = draft.retries[outcome] ?? { after: usual?.afterMinutes.join(', ') ?? '', most: usual?.most ?? 0 };
                  const change = (more: Partial<typeof own>): void =>
                    set({ retries: { ...draft.retries, [outcome]: { ...own, ...more } } });
                  return (
                    <SimpleGrid key={outcome} cols={{ base: 1, xs: 2 }}>
                      <TextInput
                        label={say(w.retryAfter, { outcome: names[outcome] })}
                        value={own.after}
                        error={errorAt(`attempts.after.${outcome}.afterMinutes`)}
                        onChange={({ currentTarget }) => change({ after: currentTarget.value })}
                      />
                      <NumberInput
                        label={say(w.retryMost, { outcome: names[outcome] })}
                        value={own.most}
                        error={errorAt(`attempts.after.${outcome}.most`)}
                        onChange={(most) => change({ most })}
                      />
                    </SimpleGrid>
                  );
                })}
              </Stack>
            </Fieldset>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextInput
                type="datetime-local"
                max="9999-12-31T23:59"
                label={w.startsAt}
                value={draft.startsAt}
                error={errorAt('startsAt')}
                onChange={({ currentTarget }) => set({ startsAt: currentTarget.value })}
              />
              <TextInput
                type="datetime-local"
                max="9999-12-31T23:59"
                label={w.endsAt}
                value={draft.endsAt}
                error={errorAt('endsAt')}
                onChange={({ currentTarget }) => set({ endsAt: currentTarget.value })}
              />
            </SimpleGrid>
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

function firstDraft({ bots, callerIds, defaults, profiles }: Choices): Draft {
  const own = callerIds.find(({ isSeries }) => !isSeries);
  return {
    name: '',
    bot: bots.length === 1 ? (bots[0] ?? '') : '',
    from: own === undefined ? [] : [own.number],
    profile: profiles.some(({ name }) => name === defaults.profile) ? defaults.profile : '',
    purpose: '',
    registrations: {},
    hours: [],
    defaultZone: '',
    callsPerSecond: 1,
    concurrency: 10,
    most: 3,
    retries: {},
    startsAt: '',
    endsAt: '',
  };
}

/** As the API takes them; what is empty is left to its default. */
function settingsOf(draft: Draft) {
  const registrations = Object.fromEntries(Object.entries(draft.registrations).filter(([, value]) => value.trim() !== ''));
  const after = Object.fromEntries(
    Object.entries(draft.retries).map(([outcome, { after: minutes, most }]) => [
      outcome,
      {
        afterMinutes: minutes
          .split(/[\s,;]+/u)
          .filter((each) => each !== '')
          .map(Number),
        most: Number(most),
      },
    ]),
  );
  const windows = writtenHours(draft.hours);
  return {
    name: draft.name,
    bot: draft.bot,
    from: draft.from.map((number) => number.replaceAll(/[\s().-]/gu, '')),
    profile: draft.profile,
    ...(draft.purpose === '' ? {} : { purpose: draft.purpose }),
    ...(Object.keys(registrations).length === 0 ? {} : { registrations }),
    ...(draft.defaultZone === '' ? {} : { defaultZone: draft.defaultZone }),
    ...numbered({ callsPerSecond: draft.callsPerSecond, concurrency: draft.concurrency }),
    ...(windows.length === 0 ? {} : { narrowing: { windows: [{ hours: windows, source: 'hours of the campaign' }] } }),
    attempts: { ...numbered({ most: draft.most }), ...(Object.keys(after).length === 0 ? {} : { after }) },
    ...(draft.startsAt === '' ? {} : { startsAt: instantOf(draft.startsAt) }),
    ...(draft.endsAt === '' ? {} : { endsAt: instantOf(draft.endsAt) }),
  };
}

/** A local time as an instant; what is no time is passed on, for the API to say so. */
function instantOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

function numbered<Name extends string>(values: Readonly<Record<Name, number | string>>): Partial<Record<Name, number>> {
  const given = Object.entries<number | string>(values).filter(([, value]) => value !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, Number(value)])) as Partial<Record<Name, number>>; // the same names
}

/** Least and most of a number, as the schema of the settings says. */
function limitsOf(schema: unknown, path: readonly string[]): { min?: number; max?: number } {
  let at = schema as { properties?: Record<string, unknown>; minimum?: number; maximum?: number } | undefined;
  for (const name of path) at = at?.properties?.[name] as typeof at;
  return { ...(at?.minimum === undefined ? {} : { min: at.minimum }), ...(at?.maximum === undefined ? {} : { max: at.maximum }) };
}
