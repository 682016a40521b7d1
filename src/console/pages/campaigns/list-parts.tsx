import { Button, FileButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import type { z } from 'zod';
import type { importedView } from '../../../http/api/dial-list-views.ts';
import { upload } from '../../api.ts';
import { Failure } from '../../parts/states.tsx';
import { say, useLanguage, useWords } from '../../words.ts';
import { listWords } from './list-words.ts';
import { numberText } from './parts.tsx';
import { ProblemRows } from './problem-rows.tsx';

type Imported = z.output<typeof importedView>;

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
  const language = useLanguage();
  const [sent, setSent] = useState(0);
  const forget = useRef<() => void>(null);
  const imported = useMutation({
    mutationFn: async (file: File) => ({ file, report: await upload<Imported>(path, file, file.name, setSent) }),
    onSuccess: changed,
  });
  const { data, error, isPending } = imported;
  const text = (count: number): string => numberText(count, language);
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
