import { Button, MultiSelect, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ApiKeysView, NewApiKeyView } from '../../../http/api/settings/settings-views.ts';
import { get, post, remove } from '../../api.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { useSession } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { Part, Rows, ShownOnce } from './parts.tsx';
import { settingsWords } from './words.ts';

/** Scopes of a key where nobody chooses: to read records. */
const USUAL = ['calls:read', 'analyses:read'];

/** API keys: made, shown once, and revoked. */
export function Keys(): ReactNode {
  const w = useWords(settingsWords);
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'keys'],
    queryFn: ({ signal }) => get<ApiKeysView>('/keys', signal),
  });
  const [made, setMade] = useState<NewApiKeyView>();
  const again = (): Promise<void> => client.invalidateQueries({ queryKey: ['settings', 'keys'] });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const rows = data.keys.map(({ id, name, tenant, scopes, createdAt, lastUsedAt }) => ({
    key: id,
    cells: [
      name,
      tenant,
      <Text key="scopes" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {scopes.join(', ')}
      </Text>,
      <Moment key="created" at={createdAt} />,
      lastUsedAt === null ? w.never : <Moment key="used" at={lastUsedAt} />,
      <ConfirmButton
        key="revoke"
        size="xs"
        color="red"
        label={w.revoke}
        title={say(w.revokeTitle, { name })}
        act={async () => {
          await remove(`/keys/${id}`);
          await again();
        }}
      >
        {w.revokeHint}
      </ConfirmButton>,
    ],
  }));
  return (
    <Part
      title={w.keys}
      action={
        <MakeKey
          made={(key) => {
            setMade(key);
            void again();
          }}
        />
      }
    >
      {made?.key == null ? null : <ShownOnce label={made.name} text={made.key} done={() => setMade(undefined)} />}
      {rows.length === 0 ? (
        <Empty title={w.noKeys}>{w.noKeysHint}</Empty>
      ) : (
        <Rows label={w.keys} names={[w.name, w.tenant, w.scopes, w.created, w.lastUsed, w.revoke]} rows={rows} />
      )}
    </Part>
  );
}

function MakeKey({ made }: { readonly made: (key: NewApiKeyView) => void }): ReactNode {
  const w = useWords(settingsWords);
  const { scopes: own } = useSession();
  const [opened, { open, close }] = useDisclosure();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState(USUAL);
  const make = async (): Promise<void> => {
    made(await post<NewApiKeyView>('/keys', { name, scopes }));
    setName('');
    setScopes(USUAL);
  };
  return (
    <>
      <Button size="xs" onClick={open}>
        {w.make}
      </Button>
      <FormDialog opened={opened} close={close} title={w.make} label={w.makeDo} act={make}>
        <TextInput
          label={w.name}
          description={w.nameHint}
          required
          maxLength={100}
          value={name}
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <MultiSelect label={w.scopes} withAsterisk searchable data={[...own]} value={scopes} onChange={setScopes} />
      </FormDialog>
    </>
  );
}
