import { Box, Group, Table, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** A page: its title, which is the document's too, what can be done with it, and its content. */
export function Page({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Offhook`;
  }, [title]);
  return (
    <Box>
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
          <Table.Th key={name}>{name}</Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}
