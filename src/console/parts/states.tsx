import { Alert, Button, Center, Group, Loader, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Refused } from '../api.ts';
import { useWords, words } from '../words.ts';

const texts = words(
  {
    loading: 'Loading',
    failed: 'This could not be loaded',
    unreachable: 'The gateway does not answer. Is it running?',
    retry: 'Try again',
  },
  {
    loading: 'लोड हो रहा है',
    failed: 'यह लोड नहीं हो सका',
    unreachable: 'गेटवे उत्तर नहीं दे रहा है। क्या वह चल रहा है?',
    retry: 'फिर से कोशिश करें',
  },
);

export function Loading(): ReactNode {
  return (
    <Center mih={160}>
      <Loader aria-label={useWords(texts).loading} />
    </Center>
  );
}

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
        <Title order={3} size="h4">
          {title}
        </Title>
        <Text c="dimmed">{children}</Text>
      </Stack>
    </Center>
  );
}
