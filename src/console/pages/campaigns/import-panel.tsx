import { Alert, Button, FileButton, Group, Progress as Bar, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { query, upload } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Headings, Failure } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { ProblemRows } from './problem-rows.tsx';
import type { Imported } from './queries.ts';
import { campaignWords } from './words.ts';

interface Looked {
  readonly file: File;
  readonly report: Imported;
}

/** Adds the contacts of a file: first a look at what would come of it, then the file itself. */
export function ImportPanel({ id }: { readonly id: string }): ReactNode {
  const w = useWords(campaignWords);
  const client = useQueryClient();
  const [region, setRegion] = useState('');
  const [renames, setRenames] = useState<Readonly<Record<string, string>>>({});
  const [sent, setSent] = useState<number>();
  const [error, setError] = useState<Error>();
  const [looked, setLooked] = useState<Looked>();
  const [added, setAdded] = useState<Looked>();
  /** Cancels the effect of earlier requests: only the last counts. */
  const forget = useRef<() => void>(null);
  const turn = useRef(0);
  const send = async (file: File, isDryRun: boolean, names = renames): Promise<void> => {
    turn.current += 1;
    const mine = turn.current;
    setError(undefined);
    setSent(0);
    const variables = Object.entries(names)
      .map(([column, name]) => `${column}:${name}`)
      .join(',');
    const asked = { region: region.trim().toUpperCase(), variables, dryRun: isDryRun ? 'true' : undefined };
    try {
      const report = await upload<Imported>(`/campaigns/${id}/contacts${query(asked)}`, file, file.name, setSent);
      if (mine !== turn.current) return;
      setLooked(isDryRun ? { file, report } : undefined);
      setAdded(isDryRun ? undefined : { file, report });
      if (!isDryRun) await client.invalidateQueries({ queryKey: ['campaign', id] });
    } catch (caught) {
      if (mine !== turn.current) return;
      setError(caught instanceof Error ? caught : new Error(String(caught)));
      if (isDryRun) setLooked(undefined);
    } finally {
      if (mine === turn.current) setSent(undefined);
    }
  };
  const choose = (file: File | null): void => {
    if (file === null) return;
    // The same file can be chosen again, once it is corrected.
    forget.current?.();
    setRenames({});
    setAdded(undefined);
    void send(file, true, {});
  };
  const isBusy = sent !== undefined;
  return (
    <Stack maw={960}>
      <Text fz="sm">{w.importHint}</Text>
      <Group align="end">
        <TextInput
          label={w.region}
          description={w.regionHint}
          placeholder="IN"
          value={region}
          maxLength={2}
          w={220}
          onChange={({ currentTarget }) => setRegion(currentTarget.value)}
        />
        <FileButton
          resetRef={forget}
          onChange={choose}
          accept=".csv,.jsonl,.ndjson,.txt,text/csv"
          inputProps={{ 'aria-label': w.chooseFile }}
        >
          {(props) => (
            <Button {...props} variant={looked === undefined ? 'filled' : 'default'} disabled={isBusy}>
              {w.chooseFile}
            </Button>
          )}
        </FileButton>
      </Group>
      {isBusy ? (
        <output>
          <Text fz="sm">{sent < 1 ? say(w.sending, { percent: Math.round(sent * 100) }) : w.reading}</Text>
          <Bar value={sent * 100} aria-label={w.uploadProgress} />
        </output>
      ) : null}
      {error === undefined ? null : <Failure error={error} />}
      {looked === undefined ? null : (
        <Preview
          looked={looked}
          renames={renames}
          rename={(column, name) => setRenames((before) => ({ ...before, [column]: name }))}
          again={() => void send(looked.file, true)}
          add={() => void send(looked.file, false)}
          isBusy={isBusy}
        />
      )}
      {added === undefined ? null : (
        <>
          <Alert variant="default" title={<AddedText report={added.report} />}>
            {w.brokenRowsHint}
          </Alert>
          <ProblemRows file={added.file} problems={added.report.problems} />
        </>
      )}
    </Stack>
  );
}

function useCounts({ rows, added, known, duplicates, refused }: Imported): string {
  const w = useWords(campaignWords);
  const format = useFormat();
  const text = (count: number): string => format.number(count);
  return say(w.importCounts, {
    rows: text(rows),
    added: text(added),
    known: text(known),
    duplicates: text(duplicates),
    refused: text(refused),
  });
}

function AddedText({ report }: { readonly report: Imported }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  return `${say(w.contactsAdded, { count: format.number(report.added) })} ${useCounts(report)}`;
}

function Preview({
  looked: { file, report },
  renames,
  rename,
  again,
  add,
  isBusy,
}: {
  readonly looked: Looked;
  readonly renames: Readonly<Record<string, string>>;
  readonly rename: (column: string, name: string) => void;
  readonly again: () => void;
  readonly add: () => void;
  readonly isBusy: boolean;
}): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const counts = useCounts(report);
  const { columns = [], contacts = [] } = report.preview ?? {};
  const becomes = {
    number: w.becomesNumber,
    zone: w.becomesZone,
    variable: w.becomesVariable,
    nothing: w.becomesNothing,
  } as const;
  return (
    <Stack component="section" aria-label={w.preview}>
      <Text fw={500}>{say(w.previewOf, { name: file.name })}</Text>
      <Text fz="sm">{counts}</Text>
      <Table.ScrollContainer minWidth={520}>
        <Table>
          <Headings names={[w.column, w.becomes, w.example]} />
          <Table.Tbody>
            {columns.map(({ column, becomes: kind, variable }) => {
              const first = contacts.map((contact) =>
                kind === 'number'
                  ? contact.number
                  : kind === 'zone'
                    ? (contact.zone ?? '')
                    : (contact.variables[variable ?? ''] ?? ''),
              );
              return (
                <Table.Tr key={column}>
                  <Table.Td>{column}</Table.Td>
                  <Table.Td>
                    {kind === 'variable' || column in renames ? (
                      <TextInput
                        size="xs"
                        aria-label={say(w.variableOf, { column })}
                        description={w.variableHint}
                        value={renames[column] ?? variable ?? ''}
                        onChange={({ currentTarget }) => rename(column, currentTarget.value)}
                        onBlur={() => (column in renames ? again() : undefined)}
                      />
                    ) : (
                      becomes[kind]
                    )}
                  </Table.Td>
                  <Table.Td className="figures">{first.find((cell) => cell !== '') ?? ''}</Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <ProblemRows file={file} problems={report.problems} />
      <Group>
        <Button onClick={add} disabled={isBusy || report.added === 0}>
          {say(w.addContacts, { count: format.number(report.added) })}
        </Button>
        {report.added === 0 ? <Text fz="sm">{w.nothingToAdd}</Text> : null}
      </Group>
    </Stack>
  );
}
