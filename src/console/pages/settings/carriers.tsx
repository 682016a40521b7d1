import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { CarriersView, ChecksView } from '../../../http/api/settings/settings-views.ts';
import { get, post } from '../../api.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { useWords } from '../../words.ts';
import { Part, Rows, State } from './parts.tsx';
import { settingsWords } from './words.ts';

/** Carriers, the numbers that bots answer, and the checks of the doctor. */
export function Carriers(): ReactNode {
  const w = useWords(settingsWords);
  const mayCheck = useMay('settings:write');
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'carriers'],
    queryFn: ({ signal }) => get<CarriersView>('/carriers', signal),
  });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const { carriers, numbers, defaultBot, hasChecks } = data;
  const answers = [...numbers, ...(defaultBot === null ? [] : [{ number: w.everyOther, bot: defaultBot }])];
  return (
    <>
      {hasChecks && mayCheck ? <Checks /> : null}
      <Part title={w.numbers}>
        {answers.length === 0 ? (
          <Text size="sm">{w.noNumbers}</Text>
        ) : (
          <Rows
            label={w.numbers}
            names={[w.number, w.bot]}
            rows={answers.map(({ number, bot }) => ({ key: `${number} ${bot}`, cells: [number, bot] }))}
          />
        )}
      </Part>
      <Part title={w.carriers}>
        <Rows
          label={w.carriers}
          names={[w.carrier, w.state, w.control, w.needs]}
          rows={carriers.map(({ name, title, state, hasControl, needs }) => ({
            key: name,
            cells: [
              title,
              <State key="state" color={state === 'proven' ? 'offhook' : 'gray'}>
                {w[state]}
              </State>,
              hasControl ? w.yes : w.no,
              needs.join(', '),
            ],
          }))}
        />
      </Part>
    </>
  );
}

function Checks(): ReactNode {
  const w = useWords(settingsWords);
  const [isBusy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<ChecksView>();
  const [error, setError] = useState<Error>();
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      setAnswer(await post<ChecksView>('/checks'));
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Part
      title={w.checks}
      action={
        <Button size="xs" loading={isBusy} onClick={() => void run()}>
          {w.runChecks}
        </Button>
      }
    >
      <Text size="sm">{w.checksHint}</Text>
      {error === undefined ? null : <Failure error={error} />}
      {answer === undefined ? null : (
        <Rows
          label={w.checks}
          names={[w.name, w.state, w.checks]}
          rows={answer.checks.map(({ name, ok, detail, advice }) => ({
            key: name,
            cells: [
              name,
              <State key="ok" color={ok ? 'offhook' : 'red'}>
                {ok ? w.ok : w.bad}
              </State>,
              <Text key="detail" size="sm" style={{ overflowWrap: 'anywhere' }}>
                {detail}
                {advice === null ? '' : ` → ${advice}`}
              </Text>,
            ],
          }))}
        />
      )}
    </Part>
  );
}
