import { Box, Button, Drawer, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { get, query } from '../../api.ts';
import { DataGrid, type GridCard, type GridColumn } from '../../parts/data-grid.tsx';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { dispositionWords } from './disposition-words.ts';
import { type Contact, useAttempts } from './queries.ts';
import { CallLink, Why } from './refusals.tsx';
import { campaignWords } from './words.ts';

const PAGE = 200;
const STATES = { pending: 'contactPending', leased: 'contactLeased', waiting: 'contactWaiting', done: 'contactDone' } as const;
const NAMES = Object.keys(STATES) as (keyof typeof STATES)[]; // literal keys

/** All contacts, found by state, outcome or number; each with its calls. */
export function ContactsTable({ id, isRunning }: { readonly id: string; readonly isRunning: boolean }): ReactNode {
  const w = useWords(campaignWords);
  const names = useWords(dispositionWords);
  const maySeeNumbers = useMay('numbers:read');
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const [state, setState] = useState('');
  const [disposition, setDisposition] = useState('');
  const [typed, setTyped] = useState('');
  const [number, setNumber] = useState('');
  const [chosen, setChosen] = useState<Contact>();
  const filters = { state, disposition, number };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['campaign', id, 'contacts', filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      get<{ contacts: Contact[]; next: string | null }>(
        `/campaigns/${id}/contacts${query({ ...filters, limit: PAGE, cursor: pageParam })}`,
        signal,
      ),
    getNextPageParam: ({ next }) => next,
    // With many pages each would be requested again.
    refetchInterval: ({ state: at }) => (isRunning && (at.data?.pages.length ?? 0) <= 1 ? 5_000 : false),
  });
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  const columns = useMemo(() => COLUMNS.map((column) => ({ ...column, title: w[column.word] })), [w]);
  const contacts = useMemo(() => data?.pages.flatMap((page) => page.contacts) ?? [], [data]);
  const search = (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setNumber(typed.trim());
      }}
    >
      <Group gap="xs" align="end">
        <TextInput
          label={w.number}
          value={typed}
          placeholder="+919876543210"
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Button type="submit" variant="default">
          {w.find}
        </Button>
      </Group>
    </form>
  );
  return (
    <Stack>
      <Group align="end">
        <Select
          label={w.state}
          clearable
          data={NAMES.map((name) => ({ value: name, label: w[STATES[name]] }))}
          value={state === '' ? null : state}
          onChange={(next) => setState(next ?? '')}
        />
        <Select
          label={w.disposition}
          clearable
          searchable
          data={Object.entries(names).map(([value, label]) => ({ value, label }))}
          value={disposition === '' ? null : disposition}
          onChange={(next) => setDisposition(next ?? '')}
        />
        {maySeeNumbers ? search : null}
      </Group>
      {error !== null ? <Failure error={error} retry={() => void refetch()} /> : null}
      {data === undefined && error === null ? <Loading /> : null}
      {data !== undefined && contacts.length === 0 ? <Empty title={w.noContacts}>{w.noContactsHint}</Empty> : null}
      {contacts.length > 0 ? (
        <DataGrid
          label={w.figureContacts}
          rows={contacts}
          columns={columns}
          card={isNarrow ? CARD : undefined}
          open={setChosen}
          total={hasNextPage ? 'unknown' : contacts.length}
          loadMore={hasNextPage && !isFetchingNextPage ? loadMore : undefined}
          maxHeight="min(60vh, 640px)"
        />
      ) : null}
      <Drawer
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        position="right"
        size="lg"
        title={chosen === undefined ? '' : say(w.callsTo, { number: shownNumber(chosen, w.erased) })}
        closeButtonProps={{ 'aria-label': w.close }}
      >
        {chosen === undefined ? null : <ContactCalls id={id} contact={chosen} />}
      </Drawer>
    </Stack>
  );
}

function shownNumber({ number }: Pick<Contact, 'number'>, erased: string): string {
  return number === '' ? erased : number;
}

/** Titles are the catalogue's words. */
const COLUMNS = [
  { name: 'number', word: 'number', widthPx: 150, cell: (contact) => <ContactNumber contact={contact} /> },
  { name: 'state', word: 'state', widthPx: 150, cell: ({ state }) => <ContactState state={state} /> },
  { name: 'disposition', word: 'disposition', widthPx: 210, cell: (contact) => <Disposition contact={contact} /> },
  { name: 'calls', word: 'calls', widthPx: 70, atEnd: true, cell: ({ attempts }) => attempts },
  {
    name: 'next',
    word: 'next',
    widthPx: 140,
    cell: ({ dueAt, state }) => (dueAt === null || state === 'leased' ? null : <Moment at={dueAt} />),
  },
  {
    name: 'variables',
    word: 'variables',
    widthPx: 180,
    cell: ({ variables }) =>
      Object.entries(variables)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', '),
  },
] as const satisfies readonly (Omit<GridColumn<Contact>, 'title'> & { readonly word: string })[];

const CARD: GridCard<Contact> = { heightPx: 60, show: (contact) => <ContactCard contact={contact} /> };

/** A contact on a phone: who, and how often they were called; then how it stands. */
function ContactCard({ contact }: { readonly contact: Contact }): ReactNode {
  const w = useWords(campaignWords);
  const { state, disposition, dueAt, attempts } = contact;
  return (
    <>
      <Group justify="space-between" wrap="nowrap" className="figures">
        <Text size="sm" fw={500}>
          {shownNumber(contact, w.erased)}
        </Text>
        <Text size="sm" c="dimmed">
          {w.calls} {attempts}
        </Text>
      </Group>
      <Text size="sm" truncate>
        <ContactState state={state} />
        {disposition === null ? null : ' · '}
        <Disposition contact={contact} />
        {dueAt === null || state === 'leased' ? null : (
          <>
            {' · '}
            <Moment at={dueAt} />
          </>
        )}
      </Text>
    </>
  );
}

function ContactNumber({ contact }: { readonly contact: Contact }): ReactNode {
  const w = useWords(campaignWords);
  return (
    <button type="button" tabIndex={-1} className="figures">
      {shownNumber(contact, w.erased)}
    </button>
  );
}

function ContactState({ state }: Pick<Contact, 'state'>): ReactNode {
  return useWords(campaignWords)[STATES[state]];
}

function Disposition({ contact: { disposition, cause } }: { readonly contact: Contact }): ReactNode {
  const names = useWords(dispositionWords);
  return disposition === null ? null : <span title={cause ?? undefined}>{names[disposition]}</span>;
}

function ContactCalls({ id, contact }: { readonly id: string; readonly contact: Contact }): ReactNode {
  const w = useWords(campaignWords);
  const names = useWords(dispositionWords);
  const { data, error, refetch } = useAttempts(id, { contact: contact.id });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  return (
    <Stack>
      {contact.dueAt === null ? null : (
        <Box>
          <Text fz="sm">
            {w.next}: <Moment at={contact.dueAt} />
          </Text>
        </Box>
      )}
      {data.attempts.length === 0 ? <Text>{w.noCalls}</Text> : null}
      {data.attempts.length === 0 ? null : (
        <PlainTable
          label={w.calls}
          rows={data.attempts}
          keyOf={({ id: attempt }) => attempt}
          columns={[
            { title: w.when, renderCell: ({ placedAt, createdAt }) => <Moment at={placedAt ?? createdAt} /> },
            {
              title: w.disposition,
              renderCell: ({ id: attempt, disposition, state }) => (
                <>
                  {disposition === null ? state : names[disposition]}
                  {disposition === 'refused' ? <Why attempt={attempt} /> : null}
                </>
              ),
            },
            {
              title: w.call,
              renderCell: ({ id: attempt, answeredAt }) =>
                answeredAt === null ? '–' : <CallLink id={attempt}>{w.openCall}</CallLink>,
            },
          ]}
        />
      )}
    </Stack>
  );
}
