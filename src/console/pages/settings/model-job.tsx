import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { ModelJobView } from '../../../http/api/settings/settings-views.ts';
import { get, remove } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import { modelWords } from './model-words.ts';

type Job = NonNullable<ModelJobView['job']>;

export const JOB_KEY = ['settings', 'model-job'];
const COLORS = { done: 'offhook', failed: 'red', cancelled: 'yellow' } as const;

/** The model that is being fetched, or the last one; asked for every second while it runs. Once a page: each user of it asks by itself. */
export function useModelJob(isEnabled: boolean): Job | undefined {
  const { data } = useQuery({
    queryKey: JOB_KEY,
    enabled: isEnabled,
    queryFn: ({ signal }) => get<ModelJobView>('/speech/models/job', signal),
    refetchInterval: ({ state }) => (state.data?.job?.state === 'running' ? 1_000 : false),
  });
  return data?.job ?? undefined;
}

/** The model that is being fetched, with a way to cancel it, or how the last one ended. @param ended called at its end */
export function ModelJobPanel({
  job,
  mayCancel,
  ended,
}: {
  readonly job: Job;
  readonly mayCancel: boolean;
  readonly ended: () => void;
}): ReactNode {
  const w = useWords(modelWords);
  const { endedAt } = job;
  useEffect(() => {
    if (endedAt !== null) ended();
  }, [endedAt, ended]);
  const { model, state, problem } = job;
  if (state === 'running') return <Running job={job} mayCancel={mayCancel} />;
  return (
    <Alert color={COLORS[state]} variant="light" mb="md" role={state === 'failed' ? 'alert' : 'status'}>
      {say(w[state], { model, problem: problem ?? '' })}
    </Alert>
  );
}

function Running({ job, mayCancel }: { readonly job: Job; readonly mayCancel: boolean }): ReactNode {
  const w = useWords(modelWords);
  const format = useFormat();
  const client = useQueryClient();
  const { model, step, done, all } = job;
  const share = all === null || all === 0 ? undefined : (100 * done) / all;
  const cancel = async (): Promise<void> => {
    await remove('/speech/models/job').catch(() => undefined);
    await client.invalidateQueries({ queryKey: JOB_KEY });
  };
  return (
    <Stack gap={6} mb="md">
      <Group justify="space-between">
        <Text size="sm" component="output" className="figures">
          <strong>{say(w.getting, { model })}</strong> {w[step]}
          {share === undefined ? '' : ` ${format.share(done, all ?? 0)}`}
        </Text>
        {mayCancel ? (
          <Button size="compact-sm" variant="default" onClick={() => void cancel()}>
            {w.cancel}
          </Button>
        ) : null}
      </Group>
      <Progress value={share ?? 100} animated={share === undefined} aria-label={say(w.getting, { model })} />
    </Stack>
  );
}
