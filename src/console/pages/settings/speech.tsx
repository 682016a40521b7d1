import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { SpeechView } from '../../../http/api/settings/settings-views.ts';
import { get } from '../../api.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { Part, Rows, State } from './parts.tsx';
import { settingsWords } from './words.ts';

/** Speech vendors with their prices, and which of them are used. */
export function Speech(): ReactNode {
  const w = useWords(settingsWords);
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'speech'],
    queryFn: ({ signal }) => get<SpeechView>('/speech', signal),
  });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const { recogniser, synthesizer, vendors } = data;
  return (
    <>
      <Part title={w.speech}>
        <Text size="sm">{say(w.usedNow, { recogniser, synthesizer })}</Text>
      </Part>
      <Part title={w.vendors}>
        <Rows
          label={w.vendors}
          names={[w.vendor, w.services, w.state, w.needs, w.prices]}
          rows={vendors.map(({ name, title, services, isConfigured, needs, prices }) => ({
            key: name,
            cells: [
              title,
              services.join(', '),
              isConfigured ? (
                <State key="state" color="offhook">
                  {w.configured}
                </State>
              ) : (
                '–'
              ),
              needs,
              <Text key="prices" size="xs">
                {prices.map(({ model, price, asOf }) => `${model}: ${price} (${asOf})`).join(' · ')}
              </Text>,
            ],
          }))}
        />
      </Part>
    </>
  );
}
