import { Button, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import { brokenRows } from './broken-rows.ts';
import type { RowProblem } from './queries.ts';
import { campaignWords } from './words.ts';

const SHOWN = 50;

/** Rows that could not be used: where, what stood there, what was wrong with it, and what is taken. */
export function ProblemRows({ file, problems }: { readonly file: File; readonly problems: readonly RowProblem[] }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  if (problems.length === 0) return null;
  const download = async (): Promise<void> => {
    const rows = brokenRows(await file.text(), problems);
    const address = URL.createObjectURL(new Blob([rows], { type: 'text/csv;charset=utf-8' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `broken-rows-${file.name}`;
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <Stack gap="xs" component="section" aria-label={w.brokenRows}>
      <Group justify="space-between">
        <Text fw={500}>{say(w.brokenRowsOf, { count: format.number(problems.length) })}</Text>
        <Button variant="default" size="xs" onClick={() => void download()}>
          {w.downloadBroken}
        </Button>
      </Group>
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right">{w.row}</Table.Th>
              <Table.Th>{w.column}</Table.Th>
              <Table.Th miw={110}>{w.value}</Table.Th>
              <Table.Th>{w.wrong}</Table.Th>
              <Table.Th>{w.accepted}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {problems.slice(0, SHOWN).map(({ line, column, value, reason, accepted }) => (
              <Table.Tr key={line}>
                <Table.Td ta="right" className="figures">
                  {line}
                </Table.Td>
                <Table.Td>{column}</Table.Td>
                <Table.Td ff="monospace" className="wrap">
                  {value}
                </Table.Td>
                <Table.Td>{reason}</Table.Td>
                <Table.Td>{accepted}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {problems.length > SHOWN ? <Text fz="sm">{say(w.moreRows, { count: format.number(problems.length - SHOWN) })}</Text> : null}
    </Stack>
  );
}
