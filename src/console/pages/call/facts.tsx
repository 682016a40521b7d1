import { Anchor, Box, Code, List, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Empty, Moment } from '../../parts/states.tsx';
import { clockText, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import { answererWords } from '../calls/words.ts';
import type { Call } from './call-model.ts';
import { callWords, nameIn } from './words.ts';

/** What the bot collected, who answered, transfers, and the call's numbers. */
export function Facts({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(callWords);
  const format = useFormat();
  const { variables, notes, outbound, optOut, callBackAt, transfers, voicemails, summary, attempt } = call;
  const hasCollected = Object.keys(variables).length + notes.length > 0;
  return (
    <Stack gap="md">
      {hasCollected ? null : <Empty title={w.nothingCollected}>{w.nothingCollectedHint}</Empty>}
      <Entries title={w.variables} entries={variables} />
      {notes.length === 0 ? null : (
        <Box>
          <Title order={3} size="h6" mb={4}>
            {w.notes}
          </Title>
          <List size="sm">
            {notes.map((note, index) => (
              // The same may be noted twice.
              <List.Item key={index}>{note}</List.Item>
            ))}
          </List>
        </Box>
      )}
      {outbound === null ? null : <Answered outbound={outbound} />}
      {outbound === null ? null : <Entries title={w.metadata} entries={outbound.metadata} />}
      {optOut === null ? null : (
        <Text size="sm">
          {optOut.kind === 'opt-out' ? w.optOut : w.wrongNumber} (<Moment at={optOut.at} />)
        </Text>
      )}
      {callBackAt === null ? null : (
        <Text size="sm">
          {w.callBack}: <Moment at={callBackAt} />
        </Text>
      )}
      <Transfers transfers={transfers} startedAtMs={Date.parse(call.startedAt)} />
      <Voicemails call={call.id} voicemails={voicemails} startedAtMs={Date.parse(call.startedAt)} />
      {attempt === null ? null : (
        <Entries
          title={w.dial}
          entries={Object.fromEntries(
            Object.entries(attempt).flatMap(([name, value]) =>
              typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
            ),
          )}
        />
      )}
      <Entries
        title={w.measures}
        entries={Object.fromEntries(Object.entries(summary).map(([name, value]) => [name, format.number(value, 1)]))}
      />
    </Stack>
  );
}

function Entries({ title, entries }: { readonly title: string; readonly entries: Readonly<Record<string, string>> }): ReactNode {
  const rows = Object.entries(entries);
  if (rows.length === 0) return null;
  return (
    <Box>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      <Table fz="sm" verticalSpacing={4} aria-label={title}>
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w="40%" fw={400} c="dimmed">
                {name}
              </Table.Th>
              <Table.Td className="figures">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

function Answered({ outbound }: { readonly outbound: NonNullable<Call['outbound']> }): ReactNode {
  const w = useWords(callWords);
  const answerers = useWords(answererWords);
  const { answeredBy, opinions, message, identified } = outbound;
  const nameOf = (by: string): string => nameIn(answerers, by) ?? by;
  return (
    <Box>
      <Title order={3} size="h6" mb={4}>
        {w.answeredBy}
      </Title>
      <Text size="sm">
        {answeredBy === undefined ? w.unknown : nameOf(answeredBy)}
        {message === undefined ? '' : ` · ${w.message}: ${message === 'all' ? w.messageAll : w.messagePart}`}
        {` · ${w.identified}: ${identified ? w.yes : w.no}`}
      </Text>
      {opinions.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {w.opinions}:{' '}
          {opinions
            .map(
              ({ by, atMs, confidence }) =>
                `${clockText(atMs)} ${nameOf(by)} (${say(w.confidence, { percent: Math.round(confidence * 100) })})`,
            )
            .join(' → ')}
        </Text>
      )}
    </Box>
  );
}

/** Messages that the caller left; their words stand in the conversation. */
function Voicemails({
  call,
  voicemails,
  startedAtMs,
}: {
  readonly call: string;
  readonly voicemails: Call['voicemails'];
  readonly startedAtMs: number;
}): ReactNode {
  const w = useWords(callWords);
  const format = useFormat();
  if (voicemails.length === 0) return null;
  return (
    <Box>
      <Title order={3} size="h6" mb={4}>
        {w.voicemails}
      </Title>
      {voicemails.map(({ turn, at, durationMs, audio }) => (
        <Text key={turn} size="sm">
          {clockText(Date.parse(at) - startedAtMs)} · {format.duration(durationMs)}
          {audio ? (
            <>
              {' · '}
              <Anchor size="sm" underline="always" href={`/api/calls/${call}/voicemails/${turn}/audio`} download>
                {w.voicemailSound}
              </Anchor>
            </>
          ) : null}
        </Text>
      ))}
    </Box>
  );
}

function Transfers({
  transfers,
  startedAtMs,
}: {
  readonly transfers: Call['transfers'];
  readonly startedAtMs: number;
}): ReactNode {
  const w = useWords(callWords);
  if (transfers.length === 0) return null;
  return (
    <Box>
      <Title order={3} size="h6" mb={4}>
        {w.transfers}
      </Title>
      {transfers.map(({ to, kind, outcome, cause, connectedBy, ...times }) => {
        const steps = [
          ['', times.startedAtMs],
          [w.transferRinging, times.ringingAtMs],
          [w.transferAnswered, times.answeredAtMs],
          [w.transferAccepted, times.acceptedAtMs],
          [w.transferConnected, times.connectedAtMs],
          [outcome ?? '', times.endedAtMs],
        ] as const;
        return (
          <Text key={times.startedAtMs} size="sm">
            <Code>{to}</Code> {kind}
            {connectedBy === undefined ? '' : ` · ${connectedBy}`}
            {cause === undefined ? '' : ` · ${cause}`}{' '}
            <Text span size="xs" c="dimmed" className="figures">
              {steps
                .flatMap(([name, atMs]) => (atMs === undefined ? [] : [`${clockText(atMs - startedAtMs)} ${name}`.trim()]))
                .join(' → ')}
            </Text>
          </Text>
        );
      })}
    </Box>
  );
}
