import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { PublishedView } from '../../../../http/api/bots/bot-views.ts';
import { post, Refused } from '../../../api.ts';
import { Failure } from '../../../parts/states.tsx';
import { say, useWords } from '../../../words.ts';
import { botPath } from './queries.ts';
import { editWords } from './words.ts';

const SHARES = ['100', '5', '10', '20', '50'] as const;

interface PublishProps {
  readonly bot: string;
  readonly draft: string;
  /** Revision of the file that the draft was made from. */
  readonly base: string;
  readonly isBarred: boolean;
  readonly published: () => Promise<void>;
}

/** The last step: asks for a note and a share, and publishes. */
export function PublishButton({ bot, draft, base, isBarred, published }: PublishProps): ReactNode {
  const w = useWords(editWords);
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  const [note, setNote] = useState('');
  const [share, setShare] = useState<string>(SHARES[0]);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [done, setDone] = useState<PublishedView & { readonly percent: number }>();
  const publish = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const percent = Number(share);
    try {
      const body = { text: draft, base, note, ...(percent === 100 ? {} : { percent }) };
      setDone({ ...(await post<PublishedView>(botPath(bot, '/versions'), body)), percent });
      setNote('');
      close();
      await published();
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
    } finally {
      setBusy(false);
    }
  };
  const loadAgain = (): void => {
    close();
    void client.invalidateQueries({ queryKey: ['bots', bot] });
  };
  return (
    <>
      <Button size="xs" disabled={isBarred} onClick={open}>
        5. {w.publish}
      </Button>
      {done === undefined ? null : (
        <Alert variant="light" color={done.reload.length === 0 ? 'offhook' : 'yellow'} role="status" p="xs">
          <Text size="sm">
            {say(done.percent === 100 ? w.published : w.publishedFor, { version: done.version, percent: done.percent })}{' '}
            {done.reload.length === 0 ? '' : `${w.notLoaded} ${done.reload.join(' ')}`}
          </Text>
        </Alert>
      )}
      <Modal
        opened={opened}
        onClose={close}
        title={say(w.publishTitle, { bot })}
        centered
        lockScroll={false}
        transitionProps={{ duration: 0 }}
        closeButtonProps={{ 'aria-label': w.cancel }}
      >
        <form onSubmit={(event) => void publish(event)}>
          <Stack gap="sm">
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
            {error === undefined ? null : <Failure error={error} />}
            <Group justify="flex-end">
              {error instanceof Refused && error.status === 409 ? (
                <Button variant="default" onClick={loadAgain}>
                  {w.conflict}
                </Button>
              ) : null}
              <Button type="submit" loading={isBusy}>
                {w.publish}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
