import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import type { ModelJobView } from '../../../http/api/settings/settings-views.ts';
import { get, remove } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import { modelWords } from './model-words.ts';

type Job = NonNullable<ModelJobView['job']>;

export const JOB_KEY = ['settings', 'model-job'];
const COLORS = { done: 'offhook', failed: 'red', cancelled: 'yellow' } as const;

function useJob(): Job | null {
  const { data } = useQuery({
    queryKey: JOB_KEY,
    queryFn: ({ signal }) => get<ModelJobView>('/speech/models/job', signal),
    refetchInterval: ({ state }) => (state.data?.job?.state === 'running' ? 1_000 : false),
  });
  return data?.job ?? null;
}

/** Whether a model is being fetched: one at a time. */
export function useIsGetting(): boolean {
  return useJob()?.state === 'running';
}

/** The model that is being fetched, with a way to cancel it, or how the last one ended; nothing before the first. @param ended called at its end */
export function ModelJobPanel({ mayCancel, ended }: { readonly mayCancel: boolean; readonly ended: () => void }): ReactNode {
  const w = useWords(modelWords);
  const job = useJob();
  const isRunning = job?.state === 'running';
  const wasRunning = useRef(isRunning);
  useEffect(() => {
    if (wasRunning.current && !isRunning) ended();
    wasRunning.current = isRunning;
  }, [isRunning, ended]);
  if (job === null) return null;
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
