import { Alert, Button, Select, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import type { PublishedView } from '../../../../http/api/bots/bot-views.ts';
import { post, Refused } from '../../../api.ts';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { say, useWords } from '../../../words.ts';
import { botPath } from './queries.ts';
import { editWords } from './words.ts';

/** Percent of new calls. */
const SHARES = ['100', '5', '10', '20', '50'] as const;

interface PublishProps {
  readonly bot: string;
  readonly draft: string;
  /** Revision of the file that the draft was made from. */
  readonly base: string;
  readonly isBarred: boolean;
  /** Loads the bot and its file again. */
  readonly reload: () => Promise<void>;
  readonly published: (answer: Published) => void;
}

export interface Published extends PublishedView {
  readonly percent: number;
}

/** The last step: asks for a note and a share, and publishes. */
export function PublishButton({ bot, draft, base, isBarred, reload, published }: PublishProps): ReactNode {
  const w = useWords(editWords);
  const [opened, { open, close }] = useDisclosure();
  const [note, setNote] = useState('');
  const [share, setShare] = useState<string>(SHARES[0]);
  const publish = async (): Promise<void> => {
    const percent = Number(share);
    const body = { text: draft, base, note, ...(percent === 100 ? {} : { percent }) };
    published({ ...(await post<PublishedView>(botPath(bot, '/versions'), body)), percent });
    setNote('');
    await reload();
  };
  const loadAgain = (
    <Button
      variant="default"
      onClick={() => {
        close();
        void reload();
      }}
    >
      {w.conflict}
    </Button>
  );
  return (
    <>
      <Button size="xs" disabled={isBarred} onClick={open}>
        5. {w.publish}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={say(w.publishTitle, { bot })}
        label={w.publish}
        act={publish}
        remedy={(error) => (error instanceof Refused && error.status === 409 ? loadAgain : null)}
      >
        <TextInput
          label={w.note}
          description={w.noteHint}
          value={note}
          maxLength={500}
          data-autofocus
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
        />
        <Select
          label={w.for}
          allowDeselect={false}
          value={share}
          data={SHARES.map((percent) => ({ value: percent, label: percent === '100' ? w.all : say(w.share, { percent }) }))}
          onChange={(next) => setShare(next ?? SHARES[0])}
        />
      </FormDialog>
    </>
  );
}

/** What became of a publication. */
export function PublishedNote({ answer: { version, percent, reload } }: { readonly answer: Published }): ReactNode {
  const w = useWords(editWords);
  return (
    <Alert variant="light" color={reload.length === 0 ? 'offhook' : 'yellow'} role="alert" p="xs">
      <Text size="sm">
        {say(percent === 100 ? w.published : w.publishedFor, { version, percent })}{' '}
        {reload.length === 0 ? '' : `${w.notLoaded} ${reload.join(' ')}`}
      </Text>
    </Alert>
  );
}
