import { Anchor, Breadcrumbs, Button, Group, Paper, Stack, Table, Tabs, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { get, post, query, remove } from '../../api.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Page, Failure, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { Consents } from './consents.tsx';
import { ImportList, type Lists, ListTable, LookUp, submitting } from './list-parts.tsx';
import { listWords } from './list-words.ts';

/** Do-not-call lists and consents. */
export function ListsPage(): ReactNode {
  const w = useWords(listWords);
  return (
    <Page title={w.lists}>
      <Breadcrumbs mb="md" fz="sm">
        <Anchor component={Link} href="/campaigns" fz="sm">
          {w.campaigns}
        </Anchor>
        <Text fz="sm">{w.lists}</Text>
      </Breadcrumbs>
      <Tabs defaultValue="suppressions" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="suppressions">{w.suppressions}</Tabs.Tab>
          <Tabs.Tab value="consents">{w.consents}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="suppressions">
          <Suppressions />
        </Tabs.Panel>
        <Tabs.Panel value="consents">
          <Consents />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Suppressions(): ReactNode {
  const w = useWords(listWords);
  const client = useQueryClient();
  const mayWrite = useMay('dialling:write');
  const mayLookUp = useMay('numbers:read');
  const [number, setNumber] = useState('');
  const changed = () => client.invalidateQueries({ queryKey: ['suppressions'] });
  return (
    <Stack>
      <Text fz="sm">{w.suppressionsHint}</Text>
      {mayLookUp ? <LookUp find={setNumber} /> : null}
      {mayWrite ? <AddSuppression changed={changed} /> : null}
      {mayWrite ? <ImportSuppressions changed={changed} /> : null}
      <ListsOfOthers />
      <ListTable
        name="suppressions"
        number={number}
        headings={[w.number, w.list, w.added, w.source, w.note]}
        minWidth={680}
        none={
          number === ''
            ? { title: w.nobodyListed, hint: w.nobodyListedHint }
            : { title: w.notListed, hint: say(w.notListedHint, { number }) }
        }
        renderRow={(entry) => (
          <SuppressionRow
            key={`${entry.number} ${entry.list} ${entry.addedAt}`}
            entry={entry}
            mayWrite={mayWrite}
            changed={changed}
          />
        )}
      />
    </Stack>
  );
}

function ImportSuppressions({ changed }: { readonly changed: () => Promise<void> }): ReactNode {
  const w = useWords(listWords);
  const client = useQueryClient();
  const [list, setList] = useState('');
  const [obtained, setObtained] = useState('');
  return (
    <ImportList
      path={`/suppressions${query({ list: list.trim(), obtained })}`}
      hint={w.importSuppressionsHint}
      changed={async () => {
        await Promise.all([changed(), client.invalidateQueries({ queryKey: ['suppression lists'] })]);
      }}
    >
      <TextInput
        label={w.importTo}
        description={w.importToHint}
        value={list}
        maxLength={64}
        onChange={({ currentTarget }) => setList(currentTarget.value)}
      />
      {list.trim() === '' ? null : (
        <TextInput
          type="date"
          label={w.obtainedOn}
          description={w.obtainedHint}
          value={obtained}
          onChange={({ currentTarget }) => setObtained(currentTarget.value)}
        />
      )}
    </ImportList>
  );
}

/** How old the lists are that others keep: the dial gate asks. */
function ListsOfOthers(): ReactNode {
  const w = useWords(listWords);
  const { data } = useQuery({
    queryKey: ['suppression lists'],
    queryFn: ({ signal }) => get<{ lists: { list: string; obtainedAt: string }[] }>('/suppressions/lists', signal),
  });
  if (data === undefined || data.lists.length === 0) return null;
  return (
    <Text fz="sm">
      {w.listsObtained}{' '}
      {data.lists.map(({ list, obtainedAt }, index) => (
        <span key={list}>
          {index === 0 ? '' : ', '}
          {list} (<Moment at={obtainedAt} />)
        </span>
      ))}
    </Text>
  );
}

function SuppressionRow({
  entry,
  mayWrite,
  changed,
}: {
  readonly entry: Lists['suppressions'];
  readonly mayWrite: boolean;
  readonly changed: () => Promise<void>;
}): ReactNode {
  const w = useWords(listWords);
  const { number, list, addedAt, source, note, callId, until } = entry;
  return (
    <Table.Tr>
      <Table.Td className="figures">{number ?? w.erased}</Table.Td>
      <Table.Td>{list === 'own' ? w.ownList : list}</Table.Td>
      <Table.Td>
        <Moment at={addedAt} />
        {until === null ? null : (
          <Text fz="xs" c="dimmed">
            {w.until} <Moment at={until} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {callId === null ? (
          source
        ) : (
          <Anchor component={Link} href={`/calls/${callId}`}>
            {w.heardInCall}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td>{note}</Table.Td>
      <Table.Td ta="right">
        {mayWrite && number !== null ? (
          <ConfirmButton
            label={w.remove}
            title={say(w.removeTitle, { number })}
            size="xs"
            reason="required"
            act={async (reason) => {
              await remove(`/suppressions${query({ number, list, reason })}`);
              await changed();
            }}
          >
            {w.removeText}
          </ConfirmButton>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}

function AddSuppression({ changed }: { readonly changed: () => Promise<void> }): ReactNode {
  const w = useWords(listWords);
  const [number, setNumber] = useState('');
  const [note, setNote] = useState('');
  const add = useMutation({
    mutationFn: () => post('/suppressions', { number: number.trim(), ...(note.trim() === '' ? {} : { note: note.trim() }) }),
    onSuccess: async () => {
      setNumber('');
      setNote('');
      await changed();
    },
  });
  return (
    <Paper withBorder p="sm" component="section" aria-label={w.addNumber}>
      <form onSubmit={submitting(() => add.mutate())}>
        <Group align="end" gap="xs">
          <TextInput
            label={w.numberToAdd}
            required
            placeholder="+919876543210"
            value={number}
            onChange={({ currentTarget }) => setNumber(currentTarget.value)}
          />
          <TextInput
            label={w.reason}
            value={note}
            maxLength={500}
            flex={1}
            miw={220}
            onChange={({ currentTarget }) => setNote(currentTarget.value)}
          />
          <Button type="submit" loading={add.isPending}>
            {w.addNumber}
          </Button>
        </Group>
        {add.error === null ? null : <Failure error={add.error} />}
      </form>
    </Paper>
  );
}
