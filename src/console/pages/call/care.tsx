import { Alert, Button, Menu, Text, Badge, Table } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { post } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import type { Call } from './call-model.ts';
import { pathOf, type Deliveries, useDeliveries } from './queries.ts';
import { callWords } from './words.ts';
import { Empty, Failure, Loading, Moment } from '../../parts/states.tsx';

interface Erasure {
  readonly erased: readonly string[];
  readonly held: readonly string[];
  readonly live: readonly string[];
}

/** What may be done to the record of a call: the recording, the legal hold, the erasure. */
export function Care({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(callWords);
  const [mayHear, mayErase] = [useMay('recordings:read'), useMay('privacy:write')];
  const { ask, dialog } = useErase(call);
  const client = useQueryClient();
  const hold = useMutation({
    mutationFn: (on: boolean) => post(pathOf(call.id, '/hold'), { on }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['call', call.id] }),
  });
  return (
    <>
      {hold.error === null ? null : (
        <Text size="sm" c="red" role="alert">
          {w.failedAct}: {hold.error.message}
        </Text>
      )}
      {call.recorded && mayHear ? (
        <Button component="a" size="xs" variant="default" href={`/api${pathOf(call.id, '/audio')}`} download={call.id}>
          {w.download}
        </Button>
      ) : null}
      {mayErase ? (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="xs" variant="default" loading={hold.isPending}>
              {w.actions}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => hold.mutate(!call.legalHold)}>{call.legalHold ? w.holdLift : w.holdSet}</Menu.Item>
            <Menu.Item color="red" onClick={ask}>
              {w.erase}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ) : null}
      {dialog}
    </>
  );
}

/** Characters at the end of the call's id that confirm an erasure. */
const CONFIRMED_BY = 6;

/** Erases a call for good, once the end of its id was typed. */
function useErase(call: Call): ReturnType<typeof useConfirm> {
  const w = useWords(callWords);
  const client = useQueryClient();
  const [answer, setAnswer] = useState<Erasure>();
  const word = call.id.slice(-CONFIRMED_BY);
  const isHeld = call.legalHold || (answer?.held.length ?? 0) > 0;
  return useConfirm({
    title: w.eraseTitle,
    label: w.eraseNow,
    color: 'red.9',
    typed: { label: say(w.eraseType, { word }), word },
    isBarred: isHeld,
    children: (
      <>
        <Text size="sm">{w.eraseWarning}</Text>
        {isHeld ? <Alert variant="default">{w.eraseHeld}</Alert> : null}
        {(answer?.live.length ?? 0) > 0 ? <Alert variant="default">{w.eraseLive}</Alert> : null}
      </>
    ),
    async act() {
      const erasure = await post<Erasure>('/erasures', { call: call.id });
      setAnswer(erasure);
      if (erasure.erased.length === 0) return 'stay';
      client.removeQueries({ queryKey: ['call', call.id, 'peaks'] });
      // Lists that were loaded before still show the person.
      for (const list of ['calls', 'calls-count', 'campaign']) client.removeQueries({ queryKey: [list] });
      return client.invalidateQueries({ queryKey: ['call', call.id] });
    },
  });
}

const COLOUR = { pending: 'yellow', delivered: 'green', failed: 'red' } as const;

/** What endpoints were told of the call, and whether it reached them. */
export function Webhooks({ callId }: { readonly callId: string }): ReactNode {
  const w = useWords(callWords);
  const maySend = useMay('jobs:write');
  const { data, error, refetch } = useDeliveries(callId);
  if (error !== null && data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  if (data.deliveries.length === 0) return <Empty title={w.noWebhooks}>{w.noWebhooksHint}</Empty>;
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table fz="sm" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{w.event}</Table.Th>
            <Table.Th>{w.endpoint}</Table.Th>
            <Table.Th>{w.state}</Table.Th>
            <Table.Th>{w.attempts}</Table.Th>
            <Table.Th>{w.lastAnswer}</Table.Th>
            {maySend ? <Table.Th aria-label={w.sendAgain} /> : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.deliveries.map((delivery) => (
            <Delivery key={delivery.id} callId={callId} delivery={delivery} maySend={maySend} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Delivery({
  callId,
  delivery: { id, type, endpoint, state, attempts, status, reason, updatedAt, nextTryBy },
  maySend,
}: {
  readonly callId: string;
  readonly delivery: Deliveries['deliveries'][number];
  readonly maySend: boolean;
}): ReactNode {
  const w = useWords(callWords);
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () => post(`/webhooks/${encodeURIComponent(id)}/send`),
    onSuccess: () => client.invalidateQueries({ queryKey: ['call', callId, 'webhooks'] }),
  });
  return (
    <Table.Tr>
      <Table.Td>{type}</Table.Td>
      <Table.Td>{endpoint}</Table.Td>
      <Table.Td>
        <Badge color={COLOUR[state]} variant="dot" tt="none">
          {w[state]}
        </Badge>
      </Table.Td>
      <Table.Td className="figures">{attempts}</Table.Td>
      <Table.Td>
        <Text size="sm">{reason ?? (status === null ? '' : String(status))}</Text>
        <Text size="xs" c="dimmed">
          {nextTryBy === null ? <Moment at={updatedAt} /> : null}
          {nextTryBy === null ? null : (
            <>
              {w.nextTry} <Moment at={nextTryBy} />
            </>
          )}
        </Text>
      </Table.Td>
      {maySend ? (
        <Table.Td>
          <Button size="compact-xs" variant="default" loading={send.isPending} onClick={() => send.mutate()}>
            {w.sendAgain}
          </Button>
          {send.error === null ? null : (
            <Text size="xs" c="red" role="alert">
              {send.error.message}
            </Text>
          )}
        </Table.Td>
      ) : null}
    </Table.Tr>
  );
}
