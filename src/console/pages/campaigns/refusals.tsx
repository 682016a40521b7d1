import { Accordion, Anchor, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../parts/format.ts';
import { Headings } from '../../parts/page.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Moment } from '../../parts/time.tsx';
import { say, useWords } from '../../words.ts';
import { type Progress, useAttempts, useDecision } from './queries.ts';
import { refusalWords } from './refusal-words.ts';
import { campaignWords } from './words.ts';

/** Why calls were refused or put off: how often, what it means, what to do, and the calls behind it. */
export function Refusals({ id, progress }: { readonly id: string; readonly progress: Progress }): ReactNode {
  const w = useWords(campaignWords);
  const texts = useWords(refusalWords);
  const format = useFormat();
  const { refusals, putOff } = progress;
  const known = (name: string): name is RefusalName => name in texts;
  const names = [...new Set([...Object.keys(refusals), ...Object.keys(putOff).filter(known)])];
  const count = (name: string): number => (refusals[name] ?? 0) + (putOff[name] ?? 0);
  if (names.length === 0) return <Empty title={w.noRefusals}>{w.noRefusalsHint}</Empty>;
  return (
    <Stack>
      <Text fz="sm">{w.refusalsHint}</Text>
      <Accordion variant="contained">
        {names
          .sort((one, other) => count(other) - count(one))
          .map((name) => (
            <Accordion.Item key={name} value={name}>
              <Accordion.Control>
                <Group justify="space-between" wrap="nowrap" pr="sm">
                  <Stack gap={2}>
                    <Text fw={500}>{known(name) ? texts[name] : name}</Text>
                    <Text fz="sm" c="dimmed">
                      {known(name) ? texts[`${name}: do`] : ''}
                    </Text>
                  </Stack>
                  <Stack gap={0} align="end">
                    {refusals[name] === undefined ? null : (
                      <Text className="figures" fz="sm">
                        {say(w.refusedTimes, { count: format.number(refusals[name]) })}
                      </Text>
                    )}
                    {putOff[name] === undefined ? null : (
                      <Text className="figures" fz="sm" c="dimmed">
                        {say(w.putOffPeople, { count: format.number(putOff[name]) })}
                      </Text>
                    )}
                  </Stack>
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <RefusedCalls id={id} cause={name} />
              </Accordion.Panel>
            </Accordion.Item>
          ))}
      </Accordion>
    </Stack>
  );
}

type RefusalName = Exclude<keyof (typeof refusalWords)['en'], `${string}: do`>;

function RefusedCalls({ id, cause }: { readonly id: string; readonly cause: string }): ReactNode {
  const w = useWords(campaignWords);
  const { data, error, refetch } = useAttempts(id, { disposition: 'refused', cause });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.attempts.length === 0) return <Text fz="sm">{w.putOffOnly}</Text>;
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Headings names={[w.when, w.number, w.rule]} />
        <Table.Tbody>
          {data.attempts.map(({ id: attempt, createdAt, to }) => (
            <Table.Tr key={attempt}>
              <Table.Td>
                <Moment at={createdAt} />
              </Table.Td>
              <Table.Td className="figures">{to === '' ? w.erased : to}</Table.Td>
              <Table.Td>
                <Why attempt={attempt} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {data.next === null ? null : (
        <Text fz="xs" c="dimmed">
          {w.firstFifty}
        </Text>
      )}
    </Table.ScrollContainer>
  );
}

/** The gate's own words for one refusal. */
export function Why({ attempt }: { readonly attempt: string }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { data } = useDecision(attempt);
  if (data === undefined) return null;
  return (
    <>
      <Text fz="sm">{data.detail}</Text>
      {data.retryAt === null ? null : (
        <Text fz="xs" c="dimmed">
          {say(w.againAt, { time: format.time(data.retryAt) })}
        </Text>
      )}
    </>
  );
}

/** A link to what was said in a call. */
export function CallLink({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactNode {
  return (
    <Anchor component={Link} href={`/calls/${id}`} fz="sm">
      {children}
    </Anchor>
  );
}
