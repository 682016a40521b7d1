import { Anchor, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import type { SpeechView } from '../../../http/api/settings/settings-views.ts';
import { get, post } from '../../api.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { type Format, useFormat } from '../../parts/format.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { JOB_KEY, ModelJobPanel, useModelJob } from './model-job.tsx';
import { modelWords } from './model-words.ts';
import { Part, State } from './parts.tsx';
import { SpeechTrial } from './speech-trial.tsx';

type Model = SpeechView['models'][number];
/** `later`: once the model that is being fetched is there. */
type MayGet = 'yes' | 'later' | 'no';

const ROLES = ['recognition', 'voice', 'end-of-turn', 'speakers'] as const;
const KEY = ['settings', 'speech'];
/** A model of a hundred languages names the first few. */
const MOST_LANGUAGES = 6;

/** Open models: their errors, cost and licence, a way to get one, and a sentence to try. */
export function Models(): ReactNode {
  const w = useWords(modelWords);
  const client = useQueryClient();
  const mayWrite = useMay('settings:write');
  const { data, error, refetch } = useQuery({ queryKey: KEY, queryFn: ({ signal }) => get<SpeechView>('/speech', signal) });
  const job = useModelJob(data?.canGet === true);
  const changed = useCallback(() => void client.invalidateQueries({ queryKey: KEY }), [client]);
  if (data === undefined)
    return error === null ? <Loading shape="rows" /> : <Failure error={error} retry={() => void refetch()} />;
  const { models, canGet, canTry } = data;
  const mayGet = !canGet || !mayWrite ? 'no' : job?.state === 'running' ? 'later' : 'yes';
  return (
    <>
      {canTry && mayWrite ? <SpeechTrial languages={[...new Set(models.flatMap(({ languages }) => languages))]} /> : null}
      {models.length === 0 ? (
        <Empty title={w.none}>{w.noneHint}</Empty>
      ) : (
        <>
          <Text size="sm" c="dimmed" mb="sm" maw={720}>
            {mayGet === 'no' ? w.hintShell : w.hint}
          </Text>
          {job === undefined ? null : <ModelJobPanel job={job} mayCancel={mayWrite} ended={changed} />}
          {ROLES.map((role) => {
            const own = models.filter((model) => model.role === role);
            return own.length === 0 ? null : <Role key={role} role={role} models={own} mayGet={mayGet} />;
          })}
        </>
      )}
    </>
  );
}

function Role({
  role,
  models,
  mayGet,
}: {
  readonly role: (typeof ROLES)[number];
  readonly models: readonly Model[];
  readonly mayGet: MayGet;
}): ReactNode {
  const w = useWords(modelWords);
  const format = useFormat();
  const someOf = useSomeOf();
  return (
    <Part title={w[role]}>
      <PlainTable<Model>
        label={w[role]}
        rows={models}
        keyOf={({ name }) => name}
        columns={[
          { title: w.model, renderCell: (model) => <Name model={model} /> },
          ...(models.some(({ languages }) => languages.length > 0)
            ? [{ title: w.languages, renderCell: ({ languages }: Model) => someOf(languages) }]
            : []),
          ...(role === 'recognition'
            ? [{ title: w.errors, renderCell: (model: Model) => <Errors model={model} />, atEnd: true }]
            : []),
          { title: w.size, renderCell: ({ bytes }) => sizeText(bytes, format) ?? '–', atEnd: true },
          {
            title: w.cost,
            renderCell: ({ measured }) => (
              <Text size="xs" {...(measured === null ? { c: 'dimmed' } : {})}>
                {measured ?? w.unmeasured}
              </Text>
            ),
          },
          {
            title: w.licence,
            renderCell: ({ licence, licenceFrom }) => (
              <Anchor size="sm" href={licenceFrom} target="_blank" rel="noreferrer">
                {licence}
              </Anchor>
            ),
          },
          { title: w.state, renderCell: (model) => <Standing model={model} mayGet={mayGet} /> },
        ]}
      />
    </Part>
  );
}

function Name({ model: { name, title, note } }: { readonly model: Model }): ReactNode {
  return (
    <>
      <Text size="sm">{title}</Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {[name, note].filter((each) => each !== null).join(' · ')}
      </Text>
    </>
  );
}

function Errors({ model: { wordErrors } }: { readonly model: Model }): ReactNode {
  const w = useWords(modelWords);
  const format = useFormat();
  if (wordErrors === null) return '–';
  const { percent, recordings, words, on } = wordErrors;
  const hint = say(w.errorsHint, { words: format.number(words), recordings: format.number(recordings), on: format.date(on) });
  return <span title={hint}>{`${format.number(percent, 1)} %`}</span>;
}

/** What it is used for, or a way to get and use it. */
function Standing({ model, mayGet }: { readonly model: Model; readonly mayGet: MayGet }): ReactNode {
  const w = useWords(modelWords);
  const format = useFormat();
  const client = useQueryClient();
  const someOf = useSomeOf();
  const { name, title, usedFor, isInstalled, bytes, licence } = model;
  if (usedFor.length > 0)
    // A badge would be cut.
    return (
      <Text size="sm" fw={600}>
        {say(w.usedFor, { what: someOf(usedFor) })}
      </Text>
    );
  if (mayGet === 'no') return isInstalled ? <State>{w.installed}</State> : '–';
  return (
    <ConfirmButton
      size="compact-sm"
      isDisabled={mayGet === 'later'}
      label={isInstalled ? w.use : w.get}
      of={name}
      title={say(isInstalled ? w.useTitle : w.getTitle, { name: title })}
      act={async () => {
        await post(`/speech/models/${encodeURIComponent(name)}/get`);
        await client.invalidateQueries({ queryKey: JOB_KEY });
      }}
    >
      <Text size="sm">
        {isInstalled
          ? w.useHint
          : `${say(w.getHint, { size: sizeText(bytes, format) ?? w.unknownSize })} ${say(w.getLicence, { licence })}`}
      </Text>
    </ConfirmButton>
  );
}

/** The first few of many languages. */
function useSomeOf(): (names: readonly string[]) => string {
  const w = useWords(modelWords);
  return (names) =>
    names.length <= MOST_LANGUAGES
      ? names.join(', ')
      : say(w.andMore, { some: names.slice(0, MOST_LANGUAGES - 1).join(', '), count: names.length - MOST_LANGUAGES + 1 });
}

function sizeText(bytes: number | null, format: Format): string | undefined {
  if (bytes === null) return undefined;
  return bytes < 1e6 ? `${format.number(Math.ceil(bytes / 1e3))} kB` : `${format.number(Math.round(bytes / 1e6))} MB`;
}
