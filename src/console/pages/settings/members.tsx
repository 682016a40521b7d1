import { Button, List, Select, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { InvitationView, MembersView } from '../../../http/api/settings/settings-views.ts';
import { get, post } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Failure, Loading, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { Part, Rows, ShownOnce } from './parts.tsx';
import { settingsWords } from './words.ts';

/** How people get in, what each role may do, and who came lately. */
export function Members(): ReactNode {
  const w = useWords(settingsWords);
  const format = useFormat();
  const mayInvite = useMay('settings:write');
  const [invited, setInvited] = useState<InvitationView & { readonly name: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'members'],
    queryFn: ({ signal }) => get<MembersView>('/members', signal),
  });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const { ways, openid, roles, seen } = data;
  return (
    <>
      <Part title={w.ways} action={mayInvite ? <Invite invited={setInvited} /> : null}>
        {invited?.path == null ? null : (
          <ShownOnce
            label={say(w.inviteOnce, { name: invited.name, at: format.fullTime(invited.expiresAt) })}
            text={location.origin + invited.path}
            done={() => setInvited(undefined)}
          />
        )}
        <List size="sm">
          {ways.map((way) => (
            <List.Item key={way}>{say(w[way], { issuer: openid?.issuer ?? '' })}</List.Item>
          ))}
        </List>
        {openid === null ? (
          <Text size="sm">{w.noOpenid}</Text>
        ) : (
          <>
            <Text size="sm">{say(w.mapped, { claim: openid.roleClaim })}</Text>
            <Rows
              label={w.ways}
              names={[w.value, w.role]}
              rows={openid.roles.map(({ value, role }) => ({ key: value, cells: [value, role] }))}
            />
          </>
        )}
      </Part>
      {seen.length === 0 ? null : (
        <Part title={w.seen}>
          <Rows
            label={w.seen}
            names={[w.name, w.way, w.when]}
            rows={seen.map(({ name, way, at }) => ({ key: name, cells: [name, way, <Moment key="at" at={at} />] }))}
          />
        </Part>
      )}
      <Part title={w.role}>
        <Rows
          label={w.role}
          names={[w.role, w.may]}
          rows={roles.map(({ role, scopes }) => ({ key: role, cells: [role, scopes.join(', ')] }))}
        />
      </Part>
    </>
  );
}

function Invite({ invited }: { readonly invited: (invitation: InvitationView & { readonly name: string }) => void }): ReactNode {
  const w = useWords(settingsWords);
  const [opened, { open, close }] = useDisclosure();
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>('viewer');
  return (
    <>
      <Button size="xs" onClick={open}>
        {w.invite}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={w.invite}
        label={w.inviteDo}
        act={async () => invited({ ...(await post<InvitationView>('/members/links', { name, role })), name })}
      >
        <TextInput
          label={w.name}
          required
          maxLength={60}
          value={name}
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Select
          label={w.role}
          allowDeselect={false}
          value={role}
          data={['viewer', 'listener', 'operator', 'admin']}
          onChange={(next) => setRole(next ?? 'viewer')}
        />
      </FormDialog>
    </>
  );
}
