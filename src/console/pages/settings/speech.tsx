import { Badge, Code, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { SpeechView } from '../../../http/api/settings/settings-views.ts';
import { get } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { Part, Rows } from './parts.tsx';
import { settingsWords } from './words.ts';

const MEGABYTE = 1_000_000;

/** Speech vendors with their prices, and open models with their errors, size and state. */
export function Speech(): ReactNode {
  const w = useWords(settingsWords);
  const format = useFormat();
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'speech'],
    queryFn: ({ signal }) => get<SpeechView>('/speech', signal),
  });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const { recogniser, synthesizer, vendors, models } = data;
  return (
    <>
      <Part title={w.speech}>
        <Text size="sm">{say(w.usedNow, { recogniser, synthesizer })}</Text>
      </Part>
      <Part title={w.models}>
        <Text size="sm">{models.length === 0 ? w.noModels : w.modelsHint}</Text>
        {models.length === 0 ? null : (
          <Rows
            names={[w.model, w.languages, w.errors, w.size, w.licence, w.state, w.command]}
            rows={models.map(({ name, title, languages, wordErrorPercent, bytes, licence, isInstalled, usedFor, measured }) => ({
              key: name,
              cells: [
                <Text key="title" size="sm" {...(measured === null ? {} : { title: measured })}>
                  {title}
                </Text>,
                languages.join(', '),
                wordErrorPercent === null ? '–' : `${format.number(wordErrorPercent)} %`,
                bytes === null ? '–' : `${format.number(Math.round(bytes / MEGABYTE))} MB`,
                licence,
                <Group key="state" gap={4}>
                  {isInstalled ? <State>{w.installed}</State> : null}
                  {usedFor.length === 0 ? null : <State>{say(w.usedFor, { what: usedFor.join(', ') })}</State>}
                </Group>,
                <Code key="command" c="var(--mantine-color-text)">
                  npx offhook models {isInstalled ? 'use' : 'get'} {name}
                </Code>,
              ],
            }))}
          />
        )}
      </Part>
      <Part title={w.vendors}>
        <Rows
          names={[w.vendor, w.services, w.state, w.needs, w.prices]}
          rows={vendors.map(({ name, title, services, isConfigured, needs, prices }) => ({
            key: name,
            cells: [
              title,
              services.join(', '),
              isConfigured ? <State key="state">{w.configured}</State> : '–',
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

function State({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Badge variant="light" c="var(--mantine-color-text)" tt="none">
      {children}
    </Badge>
  );
}
