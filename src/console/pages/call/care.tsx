import { Alert, Button, Group, Menu, Modal, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { post } from '../../api.ts';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import type { Call } from './call-model.ts';
import { pathOf } from './queries.ts';
import { callWords } from './words.ts';

interface Erasure {
  readonly erased: readonly string[];
  readonly held: readonly string[];
  readonly live: readonly string[];
}

/** What may be done to the record of a call: the recording, the legal hold, the erasure. */
export function Care({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(callWords);
  const [mayHear, mayErase] = [useMay('recordings:read'), useMay('privacy:write')];
  const [opened, { open, close }] = useDisclosure();
  const client = useQueryClient();
  const hold = useMutation({
    mutationFn: (on: boolean) => post(pathOf(call.id, '/hold'), { on }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['call', call.id] }),
  });
  return (
    <>
      {hold.error === null ? null : (
        <Text size="sm" c="red" role="alert">
          {w.failedAct}: {hold.error.message}
        </Text>
      )}
      {call.recorded && mayHear ? (
        <Button component="a" size="xs" variant="default" href={`/api${pathOf(call.id, '/audio')}`} download={call.id}>
          {w.download}
        </Button>
      ) : null}
      {mayErase ? (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="xs" variant="default" loading={hold.isPending}>
              {w.actions}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => hold.mutate(!call.legalHold)}>{call.legalHold ? w.holdLift : w.holdSet}</Menu.Item>
            <Menu.Item color="red" onClick={open}>
              {w.erase}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ) : null}
      {/* Scrolling is locked by a style that the page's policy does not let in. */}
      <Modal.Root opened={opened} onClose={close} lockScroll={false}>
        <Modal.Overlay />
        <Modal.Content aria-label={w.eraseTitle}>
          <Modal.Body>
            <Erase call={call} onClose={close} />
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}

/** Characters at the end of the call's id that confirm an erasure. */
const CONFIRMED_BY = 6;

function Erase({ call, onClose }: { readonly call: Call; readonly onClose: () => void }): ReactNode {
  const w = useWords(callWords);
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const word = call.id.slice(-CONFIRMED_BY);
  const erase = useMutation({
    mutationFn: () => post<Erasure>('/erasures', { call: call.id }),
    onSuccess: async ({ erased }) => {
      if (erased.length === 0) return;
      onClose();
      client.removeQueries({ queryKey: ['call', call.id, 'peaks'] });
      // Lists that were loaded before still show the person.
      for (const list of ['calls', 'calls-count', 'campaign']) client.removeQueries({ queryKey: [list] });
      await client.invalidateQueries({ queryKey: ['call', call.id] });
    },
  });
  const isHeld = call.legalHold || (erase.data?.held.length ?? 0) > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typed === word) erase.mutate();
      }}
    >
      <Stack gap="sm">
        <Title order={2} size="h4">
          {w.eraseTitle}
        </Title>
        <Text size="sm">{w.eraseWarning}</Text>
        {isHeld ? <Alert variant="default">{w.eraseHeld}</Alert> : null}
        {(erase.data?.live.length ?? 0) > 0 ? <Alert variant="default">{w.eraseLive}</Alert> : null}
        {erase.error === null ? null : (
          <Alert variant="default" role="alert">
            {erase.error.message}
          </Alert>
        )}
        <TextInput
          label={say(w.eraseType, { word })}
          value={typed}
          autoComplete="off"
          data-autofocus
          onChange={({ currentTarget }) => setTyped(currentTarget.value.trim())}
        />
        <Group justify="end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {w.cancel}
          </Button>
          <Button type="submit" color="red.9" disabled={typed !== word || isHeld} loading={erase.isPending}>
            {w.eraseNow}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
