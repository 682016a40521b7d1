import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../parts/format.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { say, useWords } from '../../words.ts';
import type { RowProblem } from './queries.ts';
import { campaignWords } from './words.ts';

/** A row that could not be used, as the API names it: lines count from 1. */
export interface NamedRow {
  readonly line: number;
  readonly reason: string;
}

/** A quoted cell goes over this many lines at most, as the gateway reads them. */
const MOST_LINES = 500;

/**
 * The broken rows of a file as they were written, with the reason behind each: to be corrected and sent again. A CSV file keeps its first
 * line, and gets a column more; of JSON Lines the objects get a member more.
 * @param text of the whole file
 */
export function brokenRows(text: string, problems: readonly NamedRow[]): string {
  const lines = text.replace(/^\uFEFF/u, '').split(/\r\n|\n|\r/u);
  const rows = [...problems].sort((one, other) => one.line - other.line);
  if (text.trimStart().startsWith('{'))
    return rows
      .map(({ line, reason }) => jsonWith(lines[line - 1] ?? '', reason))
      .join('\n')
      .concat('\n');
  const [header = ''] = lines;
  const sign = delimiterOf(header);
  const isPlain = rows.some(({ line }) => line === 1);
  const written = rows.map(({ line, reason }) => `${wholeRow(lines, line - 1)}${sign}${quoted(reason)}`);
  return [...(isPlain ? [] : [`${header}${sign}problem`]), ...written].join('\r\n').concat('\r\n');
}

/** A quoted cell may go on in the next lines; where it never ends, the line stands alone. */
function wholeRow(lines: readonly string[], at: number): string {
  const first = lines[at] ?? '';
  let row = first;
  for (let more = 1; hasOpenQuote(row); more += 1) {
    const next = lines[at + more];
    if (next === undefined || more > MOST_LINES) return first;
    row = `${row}\n${next}`;
  }
  return row;
}

function hasOpenQuote(text: string): boolean {
  return (text.split('"').length - 1) % 2 === 1;
}

function delimiterOf(header: string): string {
  const count = (sign: string): number => header.split(sign).length;
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

function jsonWith(line: string, problem: string): string {
  try {
    const given: unknown = JSON.parse(line);
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return JSON.stringify({ ...given, problem });
  } catch {
    // What is no JSON stays as it was written.
  }
  return line;
}

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
      <PlainTable
        label={w.brokenRows}
        rows={problems.slice(0, SHOWN)}
        keyOf={({ line }) => String(line)}
        columns={[
          { title: w.row, renderCell: ({ line }) => line, atEnd: true },
          { title: w.column, renderCell: ({ column }) => column },
          {
            title: w.value,
            renderCell: ({ value }) => (
              <Text fz="sm" ff="monospace" className="wrap">
                {value}
              </Text>
            ),
          },
          { title: w.wrong, renderCell: ({ reason }) => reason },
          { title: w.accepted, renderCell: ({ accepted }) => accepted },
        ]}
      />
      {problems.length > SHOWN ? <Text fz="sm">{say(w.moreRows, { count: format.number(problems.length - SHOWN) })}</Text> : null}
    </Stack>
  );
}
