import { Alert, Badge, Button, Code, CopyButton, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { PlainTable } from '../../parts/plain-table.tsx';
import { useWords } from '../../words.ts';
import { settingsWords } from './words.ts';

/** A part of a settings page with its heading. */
export function Part({
  title,
  action,
  children,
}: {
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Stack gap="sm" mb="xl" component="section" aria-label={title}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </Stack>
  );
}

/** A short table: names of its columns, and a cell for each. */
export function Rows({
  label,
  names,
  rows,
}: {
  readonly label: string;
  readonly names: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
}): ReactNode {
  const columns = names.map((title, at) => ({ title, renderCell: ({ cells }: (typeof rows)[number]) => cells[at] }));
  return <PlainTable label={label} columns={columns} rows={rows} keyOf={({ key }) => key} />;
}

/** A word on a thing's state. */
export function State({
  color = 'gray',
  title,
  children,
}: {
  readonly color?: string;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Badge
      variant="light"
      miw="max-content"
      color={color}
      c="var(--mantine-color-text)"
      tt="none"
      {...(title === undefined ? {} : { title })}
    >
      {children}
    </Badge>
  );
}

/** A button that tests something, with the outcome beside it. @param of what is tested, for screen readers */
export function TestButton({
  label,
  of,
  test,
}: {
  readonly label: string;
  readonly of: string;
  readonly test: () => Promise<{ readonly ok: boolean; readonly text: string }>;
}): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<{ readonly ok: boolean; readonly text: string }>();
  const run = async (): Promise<void> => {
    setBusy(true);
    setOutcome(undefined);
    setOutcome(
      await test().catch((error: unknown) => ({ ok: false, text: error instanceof Error ? error.message : String(error) })),
    );
    setBusy(false);
  };
  return (
    <Group gap="xs">
      <Button size="compact-sm" variant="default" loading={isBusy} aria-label={`${label}: ${of}`} onClick={() => void run()}>
        {label}
      </Button>
      {outcome === undefined ? null : (
        <Text size="sm" component="output" style={{ overflowWrap: 'anywhere' }}>
          {outcome.ok ? `✓ ${outcome.text}` : outcome.text}
        </Text>
      )}
    </Group>
  );
}

/** A secret that is shown this once, with a button that copies it. */
export function ShownOnce({
  label,
  text,
  done,
}: {
  readonly label: string;
  readonly text: string;
  readonly done: () => void;
}): ReactNode {
  const w = useWords(settingsWords);
  return (
    <Alert color="yellow" variant="light" role="alert">
      <Stack gap="xs" align="start">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <Text size="sm">{w.once}</Text>
        <Code block w="100%" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} c="var(--mantine-color-text)">
          {text}
        </Code>
        <Group gap="xs">
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" onClick={copy}>
                {copied ? w.copied : w.copy}
              </Button>
            )}
          </CopyButton>
          <Button size="xs" onClick={done}>
            {w.done}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
