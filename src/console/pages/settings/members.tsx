import { Button, Group, List, Select, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { InvitationView, MembersView, MemberView, NewMemberView } from '../../../http/api/settings/settings-views.ts';
import { get, post, put, remove } from '../../api.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { useFormat } from '../../parts/format.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Failure, Loading, Moment } from '../../parts/states.tsx';
import { useMay, useSession } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { Part, Rows, ShownOnce } from './parts.tsx';
import { settingsWords } from './words.ts';

const ROLES = ['viewer', 'listener', 'operator', 'admin'] as const;
type Invited = InvitationView & { readonly name: string };

/** Who is a member, how people get in, what each role may do, and who came lately. */
export function Members(): ReactNode {
  const w = useWords(settingsWords);
  const format = useFormat();
  const client = useQueryClient();
  const mayChange = useMay('settings:write');
  const [invited, setInvited] = useState<Invited>();
  const queryKey = ['settings', 'members'];
  const { data, error, refetch } = useQuery({ queryKey, queryFn: ({ signal }) => get<MembersView>('/members', signal) });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const { ways, openid, roles, seen, members } = data;
  const changed = async (link?: Invited): Promise<void> => {
    if (link !== undefined) setInvited(link);
    await client.invalidateQueries({ queryKey });
  };
  return (
    <>
      <Part title={w.people} action={mayChange ? <AddMember added={changed} /> : null}>
        {invited?.path == null ? null : (
          <ShownOnce
            label={say(w.inviteOnce, { name: invited.name, at: format.fullTime(invited.expiresAt) })}
            text={location.origin + invited.path}
            done={() => setInvited(undefined)}
          />
        )}
        {members.length === 0 ? <Text size="sm">{w.noMembers}</Text> : null}
        {members.length === 0 ? null : (
          <Rows
            label={w.members}
            names={[w.name, w.role, w.since, w.actions]}
            rows={members.map((member) => ({
              key: member.id ?? `${member.setting} ${member.name}`,
              cells: [
                member.setting === 'console.openid.roles' ? say(w.everyone, { value: member.name }) : member.name,
                member.role,
                member.createdAt === null ? '–' : <Moment key="since" at={member.createdAt} />,
                <Actions key="actions" member={member} mayChange={mayChange} changed={changed} />,
              ],
            }))}
          />
        )}
      </Part>
      <Part title={w.ways}>
        <List size="sm">
          {ways.map((way) => (
            <List.Item key={way}>{say(w[way], { issuer: openid?.issuer ?? '' })}</List.Item>
          ))}
        </List>
        <Text size="sm">{openid === null ? w.noOpenid : say(w.mapped, { claim: openid.roleClaim })}</Text>
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

/** What can be done about a member, or why nothing can. */
function Actions({
  member: { id, name, role, setting },
  mayChange,
  changed,
}: {
  readonly member: MemberView;
  readonly mayChange: boolean;
  readonly changed: (link?: Invited) => Promise<void>;
}): ReactNode {
  const w = useWords(settingsWords);
  const { user } = useSession();
  if (id === null || !mayChange || user?.name === name)
    return (
      <Text size="sm" c="dimmed">
        {setting === null ? (user?.name === name ? w.you : '–') : say(w.bySetting, { setting })}
      </Text>
    );
  return (
    <Group gap="xs">
      <ConfirmButton
        size="xs"
        label={w.newLink}
        title={say(w.newLinkTitle, { name })}
        act={async () => changed({ ...(await post<InvitationView>(`/members/${id}/links`)), name })}
      >
        {w.newLinkHint}
      </ConfirmButton>
      <ChangeRole {...{ id, name, role }} changed={changed} />
      <ConfirmButton
        size="xs"
        color="red"
        label={w.removeMember}
        title={say(w.removeMemberTitle, { name })}
        act={async () => {
          await remove(`/members/${id}`);
          await changed();
        }}
      >
        {w.removeMemberHint}
      </ConfirmButton>
    </Group>
  );
}

function RoleSelect({ role, choose }: { readonly role: string; readonly choose: (role: string) => void }): ReactNode {
  const w = useWords(settingsWords);
  return <Select label={w.role} allowDeselect={false} value={role} data={[...ROLES]} onChange={(next) => choose(next ?? role)} />;
}

function ChangeRole({
  id,
  name,
  role: current,
  changed,
}: {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly changed: () => Promise<void>;
}): ReactNode {
  const w = useWords(settingsWords);
  const [opened, { open, close }] = useDisclosure();
  const [role, setRole] = useState(current);
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {w.changeRole}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={say(w.changeRoleTitle, { name })}
        label={w.changeRoleDo}
        act={async () => {
          await put(`/members/${id}`, { role });
          await changed();
        }}
      >
        <RoleSelect role={role} choose={setRole} />
        <Text size="sm">{w.changeRoleHint}</Text>
      </FormDialog>
    </>
  );
}

function AddMember({ added }: { readonly added: (link: Invited) => Promise<void> }): ReactNode {
  const w = useWords(settingsWords);
  const [opened, { open, close }] = useDisclosure();
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>('viewer');
  const add = async (): Promise<void> => {
    const { member, ...link } = await post<NewMemberView>('/members', { name, role });
    setName('');
    await added({ ...link, name: member.name });
  };
  return (
    <>
      <Button size="xs" onClick={open}>
        {w.invite}
      </Button>
      <FormDialog opened={opened} close={close} title={w.invite} label={w.inviteDo} act={add}>
        <TextInput
          label={w.memberName}
          description={w.memberNameHint}
          required
          maxLength={100}
          value={name}
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <RoleSelect role={role} choose={setRole} />
      </FormDialog>
    </>
  );
}
