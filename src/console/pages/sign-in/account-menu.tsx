import { Button, Menu, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Session } from '../../../http/session/session-views.ts';
import { remove } from '../../api.ts';
import { openSession, useSession } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { signInWords } from './words.ts';

/** The signed-in user, their role, and sign-out. */
export function AccountMenu(): ReactNode {
  const w = useWords(signInWords);
  const client = useQueryClient();
  const { user } = useSession();
  const role = w[user.role];
  const signOut = async (path: '/session' | '/session/everywhere'): Promise<void> => {
    // Where it is over already, looking again shows so.
    await remove<Session>(path).then(
      (session) => openSession(client, session),
      () => client.invalidateQueries({ queryKey: ['session'] }),
    );
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" px="xs" aria-label={say(w.account, { name: user.name, role })}>
          <Text span size="sm" maw={120} truncate c="var(--mantine-color-text)">
            {user.name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label c="var(--mantine-color-text)">
          {user.name} · {role}
        </Menu.Label>
        <Menu.Item onClick={() => void signOut('/session')}>{w.signOut}</Menu.Item>
        <Menu.Item onClick={() => void signOut('/session/everywhere')}>{w.signOutEverywhere}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
