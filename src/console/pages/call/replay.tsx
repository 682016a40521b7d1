import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ReplayReportView } from '../../../http/api/calls/replay-views.ts';
import { Headings } from '../../parts/page.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { clockText, exactClockText, useFormat } from '../../parts/format.ts';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import type { Call } from './call-model.ts';
import { type Fixture, pathOf, replay, useFixture } from './queries.ts';
import { type ReplayTexts, replayWords } from './replay-words.ts';
import { callWords } from './words.ts';

type Setting = string | number | boolean;

/** A replay of the call with other settings, and the first decision that differs. */
export function Replay({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(replayWords);
  const { data, error, refetch } = useFixture(call.id);
  if (error !== null && data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const { state, keeps, settings } = data;
  if (state !== 'saved' || settings === null)
    return (
      <Empty title={state === 'expired' ? w.expired : w.notSaved}>
        {keeps ? w.notSavedKeeps : say(w.notSavedHint, { bot: call.bot })}
      </Empty>
    );
  return <Saved call={call} fixture={data} settings={settings} />;
}

function Saved({
  call,
  fixture,
  settings,
}: {
  readonly call: Call;
  readonly fixture: Fixture;
  readonly settings: Readonly<Record<string, Setting>>;
}): ReactNode {
  const w = useWords(replayWords);
  const [mayRun, mayHear] = [useMay('analyses:write'), useMay('recordings:read')];
  const [changed, setChanged] = useState<Readonly<Record<string, Setting>>>({});
  const run = useMutation({ mutationFn: () => replay(call.id, changed) });
  const change = (name: string, value: Setting): void =>
    setChanged(({ [name]: _before, ...others }) =>
      value === settings[name] || value === '' ? others : { ...others, [name]: value },
    );
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        {w.replayHint}
      </Text>
      {fixture.digitsMasked === true ? <Text size="xs">{w.digitsMasked}</Text> : null}
      {fixture.truncatedAtMs === null ? null : (
        <Text size="xs">{say(w.truncated, { time: clockText(fixture.truncatedAtMs) })}</Text>
      )}
      {mayRun ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run.mutate();
          }}
        >
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mb="sm">
            {FIELDS.filter(({ name }) => settings[name] !== undefined).map((field) => (
              <Field key={field.name} field={field} was={settings[field.name]} value={changed[field.name]} onChange={change} />
            ))}
          </SimpleGrid>
          <Button type="submit" size="xs" loading={run.isPending}>
            {w.run}
          </Button>
        </form>
      ) : null}
      <div aria-live="polite">
        {run.error === null ? null : (
          <Alert variant="default" role="alert">
            {run.error.message}
          </Alert>
        )}
        {run.data === undefined ? null : <Report report={run.data} />}
      </div>
      {mayRun && mayHear ? <Keep callId={call.id} expiresAt={fixture.expiresAt} /> : null}
    </Stack>
  );
}

interface SettingField {
  readonly name: string;
  readonly label: (w: ReplayTexts) => string;
  /** Absent for milliseconds. */
  readonly choices?: readonly string[];
  readonly step?: number;
}

/** Settings of a bot to try first when a call was answered too early, too late, or over the caller. */
const FIELDS: readonly SettingField[] = [
  { name: 'endpointingMs', label: (w) => w.settingEndpointing, step: 100 },
  { name: 'interruption.clearAfterMs', label: (w) => w.settingClearAfter, step: 20 },
  { name: 'interruption.reverseWithinMs', label: (w) => w.settingReverse, step: 100 },
  { name: 'noInputMs', label: (w) => w.settingNoInput, step: 500 },
  { name: 'interruption.allow', label: (w) => w.settingAllow, choices: ['always', 'keypad', 'never'] },
  { name: 'detector', label: (w) => w.settingDetector, choices: ['energy', 'neural'] },
];

function Field({
  field: { name, label, choices, step },
  was,
  value,
  onChange,
}: {
  readonly field: SettingField;
  readonly was: Setting | undefined;
  readonly value: Setting | undefined;
  readonly onChange: (name: string, value: Setting) => void;
}): ReactNode {
  const w = useWords(replayWords);
  const shared = { size: 'xs', label: label(w), description: say(w.wasSetting, { value: String(was) }) } as const;
  if (choices !== undefined)
    return (
      <Select
        {...shared}
        data={[...choices]}
        value={String(value ?? was)}
        allowDeselect={false}
        onChange={(chosen) => chosen !== null && onChange(name, chosen)}
      />
    );
  return (
    <NumberInput
      {...shared}
      min={0}
      allowDecimal={false}
      step={step ?? 1}
      value={Number(value ?? was)}
      onChange={(given) => onChange(name, given === '' ? '' : Number(given))}
    />
  );
}

function Report({ report }: { readonly report: ReplayReportView }): ReactNode {
  const w = useWords(replayWords);
  const stages = useWords(callWords);
  const { divergence, decisions, turns, standIns } = report;
  return (
    <Stack gap="xs">
      {divergence === undefined ? (
        <Alert variant="default">{say(w.replayEqual, { count: decisions.was })}</Alert>
      ) : (
        <Alert
          variant="default"
          title={say(w.replayDiffers, { time: exactClockText(divergence.atMs), turn: divergence.turn, count: divergence.after })}
        >
          <Text size="sm">
            <b>{w.decidedThen}:</b> {decisionText(w, divergence.was)}
          </Text>
          <Text size="sm">
            <b>{w.decidedNow}:</b> {decisionText(w, divergence.is)}
          </Text>
        </Alert>
      )}
      <Table.ScrollContainer minWidth={460}>
        <Table fz="xs" verticalSpacing={4} className="figures">
          <Headings names={[stages.turn, w.standing, stages.endpointing, w.words, stages.total, w.holds, w.clears, w.resumes]} />
          <Table.Tbody>
            {turns.map(({ turn, standing, was, is }) => (
              <Table.Tr key={turn}>
                <Table.Td>{turn}</Table.Td>
                <Table.Td>{w[standing]}</Table.Td>
                {(['endpointing', 'asrFinal', 'total', 'holds', 'clears', 'resumes'] as const).map((name) => (
                  <Table.Td key={name}>{bothOf(was?.[name], is?.[name])}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {turns.some(({ standing }) => standing === 'counterfactual') ? (
        <Text size="xs" c="dimmed">
          {w.counterfactualHint}
        </Text>
      ) : null}
      {standIns.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {say(w.standIns, { count: standIns.length })}
        </Text>
      )}
    </Stack>
  );
}

function decisionText(w: ReplayTexts, decision: NonNullable<ReplayReportView['divergence']>['was']): string {
  if (decision === undefined) return w.nothingMore;
  return `${decision.type} · ${exactClockText(decision.atMs)}${decision.detail === '' ? '' : ` · ${decision.detail}`}`;
}

function bothOf(was: number | null | undefined, is: number | null | undefined): string {
  const shown = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : String(Math.round(value));
  return shown(was) === shown(is) ? shown(is) : `${shown(was)} → ${shown(is)}`;
}

function Keep({ callId, expiresAt }: { readonly callId: string; readonly expiresAt: string | null }): ReactNode {
  const w = useWords(replayWords);
  const format = useFormat();
  const [agreed, setAgreed] = useState(false);
  const until = expiresAt === null ? '' : format.time(expiresAt);
  return (
    <Stack gap={6} component="section">
      <Title order={3} size="h6">
        {w.keepTest}
      </Title>
      <Text size="xs">{say(w.keepTestWarning, { date: until })}</Text>
      <Group gap="md">
        <Checkbox
          size="xs"
          label={w.keepTestAgree}
          checked={agreed}
          onChange={({ currentTarget }) => setAgreed(currentTarget.checked)}
        />
        {agreed ? (
          <Anchor size="sm" href={`/api${pathOf(callId, '/fixture/file')}`} download>
            {w.downloadTest}
          </Anchor>
        ) : null}
      </Group>
    </Stack>
  );
}
