import { Alert, Button, Checkbox, Group, MultiSelect, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { EndpointsView, NewEndpointView, TestView } from '../../../http/api/settings/settings-views.ts';
import type { DeliveriesView } from '../../../http/api/system/operation-routes.ts';
import { get, post, remove } from '../../api.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { Part, Rows, ShownOnce, State, TestButton } from './parts.tsx';
import { settingsWords } from './words.ts';

type Endpoint = EndpointsView['endpoints'][number];

/** Webhook endpoints with tests, and the latest deliveries. */
export function Webhooks(): ReactNode {
  const w = useWords(settingsWords);
  const client = useQueryClient();
  const mayWrite = useMay('settings:write');
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'endpoints'],
    queryFn: ({ signal }) => get<EndpointsView>('/webhooks/endpoints', signal),
  });
  const [added, setAdded] = useState<NewEndpointView>();
  const again = (): void => void client.invalidateQueries({ queryKey: ['settings', 'endpoints'] });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const keep = (endpoint: NewEndpointView): void => {
    setAdded(endpoint);
    again();
  };
  return (
    <>
      <Part
        title={w.webhooks}
        action={mayWrite && data.readOnly === null ? <AddEndpoint offered={data.events} added={keep} /> : null}
      >
        {data.readOnly === null ? null : (
          <Alert color="yellow" variant="light">
            <strong>{w.readOnly}</strong> {data.readOnly}
          </Alert>
        )}
        {added?.secret == null ? null : <ShownOnce label={added.name} text={added.secret} done={() => setAdded(undefined)} />}
        {data.endpoints.length === 0 ? (
          <Empty title={w.noEndpoints}>{w.noEndpointsHint}</Empty>
        ) : (
          <Rows
            label={w.webhooks}
            names={[w.name, w.url, w.events, w.from, ...(mayWrite ? [w.test] : [])]}
            rows={data.endpoints.map((endpoint) => ({
              key: endpoint.name,
              cells: [
                endpoint.name,
                <Text key="url" size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {endpoint.url}
                </Text>,
                endpoint.events.length >= data.events.length
                  ? say(w.allEvents, { count: endpoint.events.length })
                  : endpoint.events.join(', '),
                endpoint.from === 'settings' ? w.settingsFile : w.console,
                ...(mayWrite ? [<EndpointActions key="actions" endpoint={endpoint} again={again} />] : []),
              ],
            }))}
          />
        )}
      </Part>
      <Deliveries />
    </>
  );
}

function EndpointActions({
  endpoint: { name, from },
  again,
}: {
  readonly endpoint: Endpoint;
  readonly again: () => void;
}): ReactNode {
  const w = useWords(settingsWords);
  const test = async (): Promise<{ ok: boolean; text: string }> => {
    const { ok, status, problem } = await post<TestView>(`/webhooks/endpoints/${name}/test`);
    return { ok, text: ok ? say(w.testOk, { status: status ?? '' }) : say(w.testBad, { problem: problem ?? '' }) };
  };
  return (
    <Group gap="xs">
      <TestButton label={w.test} of={name} test={test} />
      {from === 'settings' ? null : (
        <ConfirmButton
          size="compact-sm"
          color="red"
          label={w.remove}
          of={name}
          title={say(w.removeTitle, { name })}
          act={async () => {
            await remove(`/webhooks/endpoints/${name}`);
            again();
          }}
        >
          {w.removeHint}
        </ConfirmButton>
      )}
    </Group>
  );
}

function AddEndpoint({
  offered,
  added,
}: {
  readonly offered: EndpointsView['events'];
  readonly added: (endpoint: NewEndpointView) => void;
}): ReactNode {
  const w = useWords(settingsWords);
  const [opened, { open, close }] = useDisclosure();
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<string[]>(['call.ended']);
  const [isFull, setFull] = useState(false);
  const [hasWords, setWords] = useState(false);
  const add = async (): Promise<void> => {
    const body = { name, url, events, numbers: isFull ? 'full' : 'masked', words: hasWords };
    added(await post<NewEndpointView>('/webhooks/endpoints', body));
    setName('');
    setUrl('');
  };
  return (
    <>
      <Button size="xs" onClick={open}>
        {w.addEndpoint}
      </Button>
      <FormDialog opened={opened} close={close} title={w.addEndpoint} label={w.add} act={add}>
        <TextInput
          label={w.name}
          required
          maxLength={63}
          value={name}
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value.toLowerCase())}
        />
        <TextInput
          label={w.url}
          type="url"
          required
          maxLength={2000}
          placeholder="https://"
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <MultiSelect label={w.events} withAsterisk searchable data={offered} value={events} onChange={setEvents} />
        <Checkbox label={w.numbersFull} checked={isFull} onChange={({ currentTarget }) => setFull(currentTarget.checked)} />
        <Checkbox label={w.wordsToo} checked={hasWords} onChange={({ currentTarget }) => setWords(currentTarget.checked)} />
      </FormDialog>
    </>
  );
}

function Deliveries(): ReactNode {
  const w = useWords(settingsWords);
  const client = useQueryClient();
  const mayRetry = useMay('jobs:write');
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'deliveries'],
    queryFn: ({ signal }) => get<DeliveriesView>('/webhooks?limit=30', signal),
    refetchInterval: 15_000,
  });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const send = async (id: string): Promise<void> => {
    await post(`/webhooks/${id}/send`);
    await client.invalidateQueries({ queryKey: ['settings', 'deliveries'] });
  };
  return (
    <Part title={w.deliveries}>
      {data.deliveries.length === 0 ? (
        <Text size="sm">{w.noDeliveries}</Text>
      ) : (
        <Rows
          label={w.deliveries}
          names={[w.when, w.event, w.endpoint, w.state, w.tries, ...(mayRetry ? [w.again] : [])]}
          rows={data.deliveries.map(({ id, type, endpoint, state, attempts, status, reason, updatedAt }) => ({
            key: id,
            cells: [
              <Moment key="when" at={updatedAt} />,
              type,
              endpoint,
              <Group key="state" gap="xs" wrap="nowrap">
                <State color={state === 'failed' ? 'red' : 'offhook'}>{w[state]}</State>
                <Text size="xs" c="dimmed">
                  {[status, reason].filter((each) => each !== null).join(' · ')}
                </Text>
              </Group>,
              attempts,
              ...(mayRetry
                ? [
                    <Button key="again" size="xs" variant="default" onClick={() => void send(id).catch(() => undefined)}>
                      {w.again}
                    </Button>,
                  ]
                : []),
            ],
          }))}
        />
      )}
    </Part>
  );
}
