import { words, useWords } from '../../words.ts';
import { Anchor, Badge, Button, Code, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { z } from 'zod';
import type { auditEventView, auditPageView } from '../../../http/api/system/operation-routes.ts';
import { get, query } from '../../api.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Page, Empty, Failure, Loading, Moment } from '../../parts/states.tsx';

const auditWords = words(
  {
    title: 'Audit',
    intro: 'Who did what here, and who looked at numbers, words or recordings of people.',
    kind: 'Kind',
    all: 'Everything',
    look: 'Looks',
    session: 'Sign-ins',
    change: 'Changes',
    search: 'Search',
    searchHint: 'Person, key, call …',
    when: 'When',
    who: 'Who',
    what: 'What',
    subject: 'Subject',
    outcome: 'Outcome',
    looked: 'Looked',
    signedIn: 'Signed in',
    signedOut: 'Signed out',
    done: 'Done',
    refused: 'Refused',
    failed: 'Failed',
    more: 'Show more',
    empty: 'Nothing here yet',
    emptyHint: 'Entries are written when somebody signs in, looks at a call or changes something.',
    none: 'Nothing found',
    noneHint: 'Nothing that was read so far fits. Search for another part, or choose another kind.',
  },
  {
    title: 'ऑडिट',
    intro: 'यहाँ किसने क्या किया, और किसने लोगों के नंबर, शब्द या रिकॉर्डिंग देखीं।',
    kind: 'प्रकार',
    all: 'सब कुछ',
    look: 'देखना',
    session: 'साइन इन',
    change: 'बदलाव',
    search: 'खोजें',
    searchHint: 'व्यक्ति, कुंजी, कॉल …',
    when: 'कब',
    who: 'किसने',
    what: 'क्या',
    subject: 'किस पर',
    outcome: 'परिणाम',
    looked: 'देखा',
    signedIn: 'साइन इन किया',
    signedOut: 'साइन आउट किया',
    done: 'हुआ',
    refused: 'मना किया गया',
    failed: 'विफल',
    more: 'और दिखाएँ',
    empty: 'अभी यहाँ कुछ नहीं है',
    emptyHint: 'जब कोई साइन इन करता है, कॉल देखता है या कुछ बदलता है, तब प्रविष्टि लिखी जाती है।',
    none: 'कुछ नहीं मिला',
    noneHint: 'अब तक पढ़ी गई प्रविष्टियों में कुछ मेल नहीं खाता। कुछ और खोजें या दूसरा प्रकार चुनें।',
  },
);

type AuditPageView = z.output<typeof auditPageView>;
type AuditEvent = z.output<typeof auditEventView>;

const TYPING_MS = 300;
const KINDS = ['look', 'session', 'change'] as const;
const COLORS = { done: 'gray', refused: 'yellow', failed: 'red' } as const;

/** Audit log entries, newest first. */
export function AuditPage(): ReactNode {
  const w = useWords(auditWords);
  const [kind, setKind] = useState('');
  const [text, setText] = useState('');
  const [wanted] = useDebouncedValue(text.trim(), TYPING_MS);
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['audit', kind, wanted],
    queryFn: ({ pageParam, signal }) =>
      get<AuditPageView>(`/audit${query({ kind, text: wanted, limit: 50, cursor: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const events = data?.pages.flatMap((page) => page.events) ?? [];
  const isFiltered = kind !== '' || wanted !== '';
  return (
    <Page title={w.title}>
      <Text c="dimmed" size="sm" mb="md">
        {w.intro}
      </Text>
      <Group gap="sm" mb="sm" align="end" component="search">
        <NativeSelect
          label={w.kind}
          value={kind}
          onChange={({ currentTarget }) => setKind(currentTarget.value)}
          data={[{ value: '', label: w.all }, ...KINDS.map((value) => ({ value, label: w[value] }))]}
        />
        <TextInput
          label={w.search}
          placeholder={w.searchHint}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
      </Group>
      {error === null ? null : <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <Loading shape="rows" /> : null}
      {events.length > 0 ? <Events events={events} /> : null}
      {data !== undefined && events.length === 0 ? (
        <Empty title={isFiltered ? w.none : w.empty}>{isFiltered ? w.noneHint : w.emptyHint}</Empty>
      ) : null}
      {hasNextPage ? (
        <Group justify="center" mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {w.more}
          </Button>
        </Group>
      ) : null}
    </Page>
  );
}

function Events({ events }: { readonly events: readonly AuditEvent[] }): ReactNode {
  const w = useWords(auditWords);
  return (
    <PlainTable
      label={w.title}
      rows={events}
      keyOf={({ at }, index) => `${at} ${index}`}
      columns={[
        { title: w.when, renderCell: ({ at }) => <Moment at={at} /> },
        { title: w.who, renderCell: ({ by }) => by.replace(/^console /u, '') },
        { title: w.what, renderCell: ({ action }) => <Action action={action} /> },
        { title: w.subject, renderCell: ({ subject }) => <Subject subject={subject} /> },
        {
          title: w.outcome,
          renderCell: ({ outcome }) => (
            <Badge color={COLORS[outcome]} variant="outline" c="var(--mantine-color-text)" tt="none" fw={500}>
              {w[outcome]}
            </Badge>
          ),
        },
      ]}
    />
  );
}

/** Frequent ones in words, others by their name. */
function Action({ action }: { readonly action: string }): ReactNode {
  const w = useWords(auditWords);
  const known: Readonly<Record<string, string>> = {
    look: w.looked,
    'session.sign-in': w.signedIn,
    'session.sign-out': w.signedOut,
  };
  return known[action] ?? <Code>{action}</Code>;
}

/** A call leads to its page. */
function Subject({ subject }: { readonly subject: string }): ReactNode {
  const callId = /^(?:\/calls\/)?(call_\w+)/u.exec(subject)?.[1];
  const shown = (
    <Text span size="sm" ff="monospace">
      {subject}
    </Text>
  );
  if (callId === undefined) return shown;
  return (
    <Anchor component={Link} href={`/calls/${callId}`} underline="always">
      {shown}
    </Anchor>
  );
}
