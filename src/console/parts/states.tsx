import {
  Alert,
  Box,
  Button,
  Center,
  Group,
  SimpleGrid,
  Skeleton,
  Stack,
  Table,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core';
import { Component, type ReactNode, useEffect } from 'react';
import { get, Refused } from '../api.ts';
import { useWords, words } from '../words.ts';
import { NotLoaded } from './loaded.ts';
import { useFormat } from './format.ts';

const texts = words(
  {
    loading: 'Loading',
    failed: 'This could not be loaded',
    unreachable: 'The gateway does not answer. Is it running?',
    retry: 'Try again',
    broken: 'This page failed',
    brokenHint: 'Calls are not affected. Reload it; if it fails again, please report what it says:',
    reload: 'Reload',
  },
  {
    loading: 'लोड हो रहा है',
    failed: 'यह लोड नहीं हो सका',
    unreachable: 'गेटवे उत्तर नहीं दे रहा है। क्या वह चल रहा है?',
    retry: 'फिर से कोशिश करें',
    broken: 'यह पृष्ठ विफल हुआ',
    brokenHint: 'कॉल पर कोई असर नहीं है। इसे फिर से लोड करें; फिर विफल हो तो इसका संदेश भेजें:',
    reload: 'फिर से लोड करें',
  },
);

/** Stands where content comes: lines, as rows of a list or as cards, grey until it is there. Nothing is drawn for what comes at once. */
export function Loading({ shape = 'lines' }: { readonly shape?: 'lines' | 'rows' | 'cards' }): ReactNode {
  const { count, height, gap } = SKELETONS[shape];
  return (
    <Box component="output" display="block" className="skeleton" py="xs">
      <VisuallyHidden>{useWords(texts).loading}</VisuallyHidden>
      {shape === 'cards' ? (
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} aria-hidden>
          {Array.from({ length: count }, (_, at) => (
            <Skeleton key={at} height={height} radius="lg" />
          ))}
        </SimpleGrid>
      ) : (
        <Stack gap={gap} aria-hidden>
          {Array.from({ length: count }, (_, at) => (
            <Skeleton key={at} height={height} width={shape === 'rows' ? '100%' : `${[92, 78, 85, 64, 88][at % 5]}%`} />
          ))}
        </Stack>
      )}
    </Box>
  );
}

const SKELETONS = {
  lines: { count: 5, height: 14, gap: 14 },
  rows: { count: 8, height: 30, gap: 10 },
  cards: { count: 4, height: 92, gap: 0 },
} as const;

/** What went wrong, in the gateway's words, and a way to go on. */
export function Failure({ error, retry }: { readonly error: Error; readonly retry?: () => void }): ReactNode {
  const w = useWords(texts);
  return (
    <Alert color="red" title={w.failed} role="alert" variant="light">
      <Group justify="space-between">
        <Text size="sm">{error instanceof Refused ? error.message : w.unreachable}</Text>
        {retry === undefined ? null : (
          <Button size="xs" variant="default" onClick={retry}>
            {w.retry}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** Nothing here yet: says why, and what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <Center mih={200} p="xl">
      <Stack align="center" gap="xs" maw={520} ta="center">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text c="dimmed">{children}</Text>
      </Stack>
    </Center>
  );
}

/** Keeps a page that fails from taking the menu with it. */
export class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly error: Error | undefined }> {
  override state = { error: undefined };

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return isNotLoaded(error) ? <Unloaded error={error} /> : <Broken error={error} />;
  }
}

function isNotLoaded(error: Error): error is NotLoaded {
  return error instanceof NotLoaded;
}

/** Loads the page anew once the gateway answers: at a press, and when the browser is online again. */
async function loadAnew(): Promise<void> {
  try {
    await get('/session');
  } catch (error) {
    if (!(error instanceof Refused)) return;
  }
  location.reload();
}

function Unloaded({ error }: { readonly error: Error }): ReactNode {
  useEffect(() => {
    const again = (): void => void loadAnew();
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, []);
  return <Failure error={error} retry={() => void loadAnew()} />;
}

function Broken({ error }: { readonly error: Error }): ReactNode {
  const w = useWords(texts);
  return (
    <Alert color="red" title={w.broken} role="alert" variant="light">
      <Stack gap="xs" align="start">
        <Text size="sm">
          {w.brokenHint} <code>{error.message}</code>
        </Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          {w.reload}
        </Button>
      </Stack>
    </Alert>
  );
}

/** A page: its title, which is the document's too, what can be done with it, and its content. */
export function Page({
  title,
  above,
  actions,
  children,
}: {
  readonly title: string;
  /** Where the page belongs: a way back. */
  readonly above?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Offhook`;
  }, [title]);
  return (
    <Box>
      {above}
      <Group justify="space-between" mb="md" mih={36}>
        <Title order={1} size="h3">
          {title}
        </Title>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Box>
  );
}

/** The head of a table: one row of names. */
export function Headings({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <Table.Thead>
      <Table.Tr>
        {names.map((name) => (
          <Table.Th key={name} scope="col">
            {name}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

/** A moment in the reader's own time zone; its full form on hover. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const format = useFormat();
  return (
    <time dateTime={at} title={format.fullTime(at)} className="figures">
      {format.listedTime(at, true)}
    </time>
  );
}
