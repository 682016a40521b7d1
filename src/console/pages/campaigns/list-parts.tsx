import { Button, FileButton, Group, Stack, Table, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import type { z } from 'zod';
import type { consentView, importedView, suppressionView } from '../../../http/api/campaigns/dial-list-routes.ts';
import { get, query, upload } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { listWords } from './list-words.ts';
import { ProblemRows } from './problem-rows.tsx';

type Imported = z.output<typeof importedView>;

/** Entries of each list, by the list's path in the API. */
export interface Lists {
  readonly consents: z.output<typeof consentView>;
  readonly suppressions: z.output<typeof suppressionView>;
}

/** Entries of a list as a table: the first 200, or those of one number. */
export function ListTable<Name extends keyof Lists>({
  name,
  number,
  headings,
  minWidth,
  none,
  renderRow,
}: {
  readonly name: Name;
  /** Empty for all numbers. */
  readonly number: string;
  /** Headings of the columns before the buttons. */
  readonly headings: readonly string[];
  /** Narrower screens scroll, in px. */
  readonly minWidth: number;
  /** Said where there are no entries. */
  readonly none: { readonly title: string; readonly hint: string };
  readonly renderRow: (entry: Lists[Name]) => ReactNode;
}): ReactNode {
  const w = useWords(listWords);
  const { data, error, refetch } = useQuery({
    queryKey: [name, number],
    queryFn: ({ signal }) =>
      get<Readonly<Record<Name, readonly Lists[Name][]>> & { readonly next: string | null }>(
        `/${name}${query({ number, limit: 200 })}`,
        signal,
      ),
  });
  const failure = error === null ? null : <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return failure ?? <Loading />;
  const entries = data[name];
  return (
    <>
      {failure}
      {entries.length === 0 ? (
        <Empty title={none.title}>{none.hint}</Empty>
      ) : (
        <Table.ScrollContainer minWidth={minWidth}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                {headings.map((heading) => (
                  <Table.Th key={heading}>{heading}</Table.Th>
                ))}
                <Table.Th>
                  <VisuallyHidden>{w.change}</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>{entries.map(renderRow)}</Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {data.next === null ? null : (
        <Text fz="sm" c="dimmed">
          {w.firstOnly}
        </Text>
      )}
    </>
  );
}

/** Finds what is known of one number. */
export function LookUp({ find }: { readonly find: (number: string) => void }): ReactNode {
  const w = useWords(listWords);
  const [typed, setTyped] = useState('');
  return (
    <search>
      <form onSubmit={submitting(() => find(typed.trim()))}>
        <Group align="end" gap="xs">
          <TextInput
            label={w.lookUp}
            placeholder="+919876543210"
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <Button type="submit" variant="default">
            {w.find}
          </Button>
          {typed === '' ? null : (
            <Button
              variant="subtle"
              onClick={() => {
                setTyped('');
                find('');
              }}
            >
              {w.all}
            </Button>
          )}
        </Group>
      </form>
    </search>
  );
}

/** A file of numbers, or of consents; rows that cannot be used are named, and the others go on. */
export function ImportList({
  path,
  hint,
  changed,
  children,
}: {
  readonly path: string;
  readonly hint: string;
  /** Fields that say more of the file. */
  readonly children?: ReactNode;
  readonly changed: () => Promise<void>;
}): ReactNode {
  const w = useWords(listWords);
  const format = useFormat();
  const [sent, setSent] = useState(0);
  const forget = useRef<() => void>(null);
  const imported = useMutation({
    mutationFn: async (file: File) => ({ file, report: await upload<Imported>(path, file, file.name, setSent) }),
    onSuccess: changed,
  });
  const { data, error, isPending } = imported;
  const text = (count: number): string => format.number(count);
  return (
    <Stack gap="xs">
      <Group gap="xs" align="end">
        {children}
        <FileButton
          accept=".csv,.txt,text/csv"
          resetRef={forget}
          onChange={(file) => {
            if (file !== null) imported.mutate(file);
            // The same file can be chosen again, once it is corrected.
            forget.current?.();
          }}
          inputProps={{ 'aria-label': w.importFile }}
        >
          {(props) => (
            <Button {...props} variant="default" disabled={isPending}>
              {isPending ? say(w.sending, { percent: Math.round(sent * 100) }) : w.importFile}
            </Button>
          )}
        </FileButton>
        <Text fz="sm" c="dimmed">
          {hint}
        </Text>
      </Group>
      {error === null ? null : <Failure error={error} />}
      {data === undefined ? null : (
        <>
          <Text fz="sm" component="output">
            {say(w.imported, {
              added: text(data.report.added),
              known: text(data.report.known),
              refused: text(data.report.refused),
            })}
          </Text>
          <ProblemRows file={data.file} problems={data.report.problems} />
        </>
      )}
    </Stack>
  );
}

/** Runs what a form is for, and stays on the page. */
export function submitting(run: () => void): (event: FormEvent) => void {
  return (event) => {
    event.preventDefault();
    run();
  };
}
