import { Button, Group, MultiSelect, Paper, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { post } from '../../api.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Failure, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { ImportList, type Lists, ListTable, LookUp, submitting } from './list-parts.tsx';
import { listWords } from './list-words.ts';

const PURPOSES = ['promotional', 'service', 'transactional', 'government'];
const KINDS = ['form', 'recording', 'message', 'contract', 'letter', 'verbal', 'register'] as const;

/** What people agreed to, with its evidence. */
export function Consents(): ReactNode {
  const w = useWords(listWords);
  const client = useQueryClient();
  const mayWrite = useMay('dialling:write');
  const mayLookUp = useMay('numbers:read');
  const [number, setNumber] = useState('');
  const changed = () => client.invalidateQueries({ queryKey: ['consents'] });
  return (
    <Stack>
      <Text fz="sm">{w.consentsHint}</Text>
      {mayLookUp ? <LookUp find={setNumber} /> : null}
      {mayWrite ? <AddConsent changed={changed} /> : null}
      {mayWrite ? <ImportList path="/consents" hint={w.importConsentsHint} changed={changed} /> : null}
      <ListTable
        name="consents"
        number={number}
        headings={[w.number, w.level, w.purposes, w.given, w.evidence]}
        minWidth={760}
        none={{ title: w.noConsents, hint: w.noConsentsHint }}
        renderRow={(consent) => (
          <ConsentRow key={`${consent.number} ${consent.id}`} consent={consent} mayWrite={mayWrite} changed={changed} />
        )}
      />
    </Stack>
  );
}

function ConsentRow({
  consent,
  mayWrite,
  changed,
}: {
  readonly consent: Lists['consents'];
  readonly mayWrite: boolean;
  readonly changed: () => Promise<void>;
}): ReactNode {
  const w = useWords(listWords);
  const { number, id, level, purposes, givenAt, expiresAt, withdrawnAt } = consent;
  const { evidence, evidenceKind, evidenceSource, writtenBy } = consent;
  return (
    <Table.Tr>
      <Table.Td className="figures">{number ?? w.erased}</Table.Td>
      <Table.Td>{level === 'written' ? w.written : w.express}</Table.Td>
      <Table.Td>{purposes.join(', ')}</Table.Td>
      <Table.Td>
        <Moment at={givenAt} />
        {expiresAt === null ? null : (
          <Text fz="xs" c="dimmed">
            {w.until} <Moment at={expiresAt} />
          </Text>
        )}
        {withdrawnAt === null ? null : (
          <Text fz="xs">
            {w.withdrawn} <Moment at={withdrawnAt} />
          </Text>
        )}
      </Table.Td>
      <Table.Td className="wrap">
        {evidence}
        {evidenceKind === null ? null : (
          <Text fz="xs" c="dimmed">
            {[w[evidenceKind], evidenceSource, writtenBy].filter((each) => each !== null).join(' · ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">
        {mayWrite && number !== null && withdrawnAt === null ? (
          <ConfirmButton
            label={w.withdraw}
            title={say(w.withdrawTitle, { number })}
            size="xs"
            reason="required"
            act={async (reason) => {
              await post('/consents/withdraw', { number, id, reason });
              await changed();
            }}
          >
            {w.withdrawText}
          </ConfirmButton>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}

function AddConsent({ changed }: { readonly changed: () => Promise<void> }): ReactNode {
  const w = useWords(listWords);
  const empty = {
    number: '',
    level: 'express',
    purposes: [] as readonly string[],
    givenAt: '',
    expiresAt: '',
    evidence: '',
    evidenceKind: 'form',
    evidenceSource: '',
  };
  const [given, setGiven] = useState(empty);
  const set = (change: Partial<typeof empty>): void => setGiven((before) => ({ ...before, ...change }));
  const add = useMutation({
    mutationFn: () => {
      const { expiresAt, ...rest } = given;
      return post('/consents', { ...rest, number: given.number.trim(), ...(expiresAt === '' ? {} : { expiresAt }) });
    },
    onSuccess: async () => {
      setGiven(empty);
      await changed();
    },
  });
  return (
    <Paper withBorder p="sm" component="section" aria-label={w.addConsent}>
      <form onSubmit={submitting(() => add.mutate())}>
        <Group align="end" gap="xs">
          <TextInput
            label={w.numberOfConsent}
            required
            placeholder="+919876543210"
            value={given.number}
            onChange={({ currentTarget }) => set({ number: currentTarget.value })}
          />
          <Select
            label={w.level}
            data={[
              { value: 'express', label: w.express },
              { value: 'written', label: w.written },
            ]}
            value={given.level}
            allowDeselect={false}
            onChange={(level) => set({ level: level ?? 'express' })}
          />
          <MultiSelect
            label={w.purposes}
            required
            data={PURPOSES}
            value={[...given.purposes]}
            miw={200}
            onChange={(purposes) => set({ purposes })}
          />
          <TextInput
            type="date"
            label={w.given}
            required
            value={given.givenAt}
            onChange={({ currentTarget }) => set({ givenAt: currentTarget.value })}
          />
          <TextInput
            type="date"
            label={w.expires}
            value={given.expiresAt}
            onChange={({ currentTarget }) => set({ expiresAt: currentTarget.value })}
          />
          <TextInput
            label={w.evidence}
            description={w.evidenceHint}
            required
            value={given.evidence}
            flex={1}
            miw={220}
            onChange={({ currentTarget }) => set({ evidence: currentTarget.value })}
          />
          <Select
            label={w.evidenceKind}
            data={KINDS.map((value) => ({ value, label: w[value] }))}
            value={given.evidenceKind}
            allowDeselect={false}
            onChange={(evidenceKind) => set({ evidenceKind: evidenceKind ?? 'form' })}
          />
          <TextInput
            label={w.evidenceSource}
            description={w.evidenceSourceHint}
            required
            value={given.evidenceSource}
            onChange={({ currentTarget }) => set({ evidenceSource: currentTarget.value })}
          />
          <Button type="submit" loading={add.isPending}>
            {w.addConsent}
          </Button>
        </Group>
        {add.error === null ? null : <Failure error={add.error} />}
      </form>
    </Paper>
  );
}
