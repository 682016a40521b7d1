import { Badge, Button, Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { post } from '../../api.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Moment } from '../../parts/time.tsx';
import { useMay } from '../../session.tsx';
import { useWords } from '../../words.ts';
import { type Deliveries, useDeliveries } from './queries.ts';
import { callWords } from './words.ts';

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
