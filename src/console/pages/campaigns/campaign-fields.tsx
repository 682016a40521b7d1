import { Fieldset, NumberInput, Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { say, useWords } from '../../words.ts';
import { type Draft, RETRIED } from './campaign-draft.ts';
import { dispositionWords } from './disposition-words.ts';
import type { Choices } from './queries.ts';
import { campaignWords } from './words.ts';

export interface CampaignFieldsProps {
  readonly draft: Draft;
  readonly choices: Choices;
  readonly set: (change: Partial<Draft>) => void;
  /** What the API refused about a field. */
  readonly errorAt: (path: string) => string | undefined;
}

/** Who calls whom, and by which rules. */
export function WhoFields({ draft, choices, set, errorAt }: CampaignFieldsProps): ReactNode {
  const w = useWords(campaignWords);
  const profile = choices.profiles.find(({ name }) => name === draft.profile);
  const registrations = profile?.registrations.filter(
    ({ purposes }) => purposes === null || draft.purpose === '' || purposes.some((each) => each === draft.purpose),
  );
  return (
    <>
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
    </>
  );
}

/** How fast calls are made, and how often to one person. */
export function PaceFields({ draft, choices, set, errorAt }: CampaignFieldsProps): ReactNode {
  const w = useWords(campaignWords);
  const limits = (path: readonly string[]) => limitsOf(choices.schema, path);
  return (
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
  );
}

/** When and how often people are called again, by how the call before ended. */
export function RetryFields({ draft, choices, set, errorAt }: CampaignFieldsProps): ReactNode {
  const w = useWords(campaignWords);
  const names = useWords(dispositionWords);
  return (
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
  );
}

/** When the campaign begins and ends. */
export function TimeFields({ draft, set, errorAt }: Omit<CampaignFieldsProps, 'choices'>): ReactNode {
  const w = useWords(campaignWords);
  return (
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
  );
}

/** Least and most of a number, as the schema of the settings says. */
function limitsOf(schema: unknown, path: readonly string[]): { min?: number; max?: number } {
  let at = schema as { properties?: Record<string, unknown>; minimum?: number; maximum?: number } | undefined;
  for (const name of path) at = at?.properties?.[name] as typeof at;
  return { ...(at?.minimum === undefined ? {} : { min: at.minimum }), ...(at?.maximum === undefined ? {} : { max: at.maximum }) };
}
