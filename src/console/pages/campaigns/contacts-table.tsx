/* oxlint-disable jsx-a11y/prefer-tag-over-role -- rows are placed by hand: elements of a table would place themselves */
import { Box, Button, Drawer, Group, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { get, query } from '../../api.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Moment } from '../../parts/time.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { dispositionWords } from './disposition-words.ts';
import { type Contact, useAttempts } from './queries.ts';
import { CallLink, Why } from './refusals.tsx';
import styles from './contacts-table.module.css';
import { campaignWords } from './words.ts';

const PAGE = 200;
const ROW_PX = 40;
const STATES = { pending: 'contactPending', leased: 'contactLeased', waiting: 'contactWaiting', done: 'contactDone' } as const;
const NAMES = Object.keys(STATES) as (keyof typeof STATES)[]; // literal keys

/** All contacts, found by state, outcome or number; each with its calls. */
export function ContactsTable({ id, isRunning }: { readonly id: string; readonly isRunning: boolean }): ReactNode {
  const w = useWords(campaignWords);
  const names = useWords(dispositionWords);
  const maySeeNumbers = useMay('numbers:read');
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
  const contacts = data?.pages.flatMap((page) => page.contacts) ?? [];
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
        <Rows
          contacts={contacts}
          choose={setChosen}
          more={hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined}
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

function Rows({
  contacts,
  choose,
  more,
}: {
  readonly contacts: readonly Contact[];
  readonly choose: (contact: Contact) => void;
  readonly more: (() => void) | undefined;
}): ReactNode {
  const w = useWords(campaignWords);
  const names = useWords(dispositionWords);
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- no compiler keeps its answers here
  const virtual = useVirtualizer({
    count: contacts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= contacts.length - 20) more?.();
  }, [last, contacts.length, more]);
  return (
    <div
      ref={scroller}
      className={styles['scroller']}
      role="table"
      aria-label={w.figureContacts}
      aria-rowcount={contacts.length + 1}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys
      tabIndex={0}
    >
      <div role="rowgroup" className={styles['head']}>
        <div role="row" className={styles['row']} aria-rowindex={1}>
          {[w.number, w.state, w.disposition, w.calls, w.next, w.variables].map((name) => (
            <div key={name} role="columnheader">
              {name}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const contact = contacts[index];
          if (contact === undefined) return null;
          const { id, state, disposition, cause, attempts, dueAt, variables } = contact;
          return (
            <div
              key={id}
              role="row"
              aria-rowindex={index + 2}
              className={styles['row']}
              style={{ transform: `translateY(${start}px)` }}
            >
              <div role="cell">
                <button type="button" className={styles['open']} onClick={() => choose(contact)}>
                  {shownNumber(contact, w.erased)}
                </button>
              </div>
              <div role="cell">{w[STATES[state]]}</div>
              <div role="cell" title={cause ?? undefined}>
                {disposition === null ? '' : names[disposition]}
              </div>
              <div role="cell" className="figures">
                {attempts}
              </div>
              <div role="cell">{dueAt === null || state === 'leased' ? '' : <Moment at={dueAt} />}</div>
              <div role="cell" className={styles['cut']}>
                {Object.entries(variables)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(', ')}
              </div>
            </div>
          );
        })}
      </div>
    </div>
  );
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
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{w.when}</Table.Th>
              <Table.Th>{w.disposition}</Table.Th>
              <Table.Th>{w.call}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.attempts.map(({ id: attempt, createdAt, placedAt, disposition, answeredAt, state }) => (
              <Table.Tr key={attempt}>
                <Table.Td>
                  <Moment at={placedAt ?? createdAt} />
                </Table.Td>
                <Table.Td>
                  {disposition === null ? state : names[disposition]}
                  {disposition === 'refused' ? <Why attempt={attempt} /> : null}
                </Table.Td>
                <Table.Td>{answeredAt === null ? '–' : <CallLink id={attempt}>{w.openCall}</CallLink>}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
