import { Alert, Badge, Box, Group, NumberInput, ScrollArea, Select, Table, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { BotVersionsView } from '../../../../http/api/bots/bot-views.ts';
import { post, put } from '../../../api.ts';
import { ConfirmButton } from '../../../parts/confirm.tsx';
import { Empty, Failure, Headings, Loading, Moment } from '../../../parts/states.tsx';
import { useMay } from '../../../session.tsx';
import { say, useWords } from '../../../words.ts';
import classes from '../bots.module.css';
import { hunksOf, lineDiff } from './line-diff.ts';
import { botPath, useSource, useVersions } from './queries.ts';
import { editWords } from './words.ts';

/** Published versions of a bot: who published what, which calls get it, and what changed. */
export function Versions({ bot }: { readonly bot: string }): ReactNode {
  const w = useWords(editWords);
  const { data, error, refetch } = useVersions(bot);
  const mayEdit = useMay('bots:write');
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  const { versions, current } = data;
  if (versions.length === 0) return <Empty title={w.noVersions}>{w.noVersionsHint}</Empty>;
  return (
    <>
      {current === null ? (
        <Alert color="yellow" variant="light" mb="md">
          {w.byHand}
        </Alert>
      ) : null}
      <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
        <Table miw={640} verticalSpacing="xs">
          <Headings names={[w.number, w.when, w.author, w.noteColumn, ...(mayEdit ? [w.actions] : [])]} />
          <Table.Tbody>
            {versions.map((version) => (
              <Version key={version.number} bot={bot} version={version} all={data} mayEdit={mayEdit} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
      {mayEdit && versions.length > 1 ? <Comparison bot={bot} versions={versions} /> : null}
    </>
  );
}

function Version({
  bot,
  version: { number, id, at, author, note },
  all: { current, share, versions },
  mayEdit,
}: {
  readonly bot: string;
  readonly version: BotVersionsView['versions'][number];
  readonly all: BotVersionsView;
  readonly mayEdit: boolean;
}): ReactNode {
  const w = useWords(editWords);
  const client = useQueryClient();
  const [percent, setPercent] = useState(20);
  const again = (): Promise<void> => client.invalidateQueries({ queryKey: ['bots', bot] });
  const give = async (of: number): Promise<void> => {
    await put(botPath(bot, '/share'), { version: number, percent: of });
    await again();
  };
  const isShared = share?.version === number;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <Text span size="sm" className="figures" title={id}>
            {number}
          </Text>
          {number === current ? (
            <Badge variant="light" c="var(--mantine-color-text)">
              {w.inUse}
            </Badge>
          ) : null}
          {isShared ? (
            <Badge variant="light" color="yellow" c="var(--mantine-color-text)">
              {say(w.of, { percent: share.percent })}
            </Badge>
          ) : null}
        </Group>
      </Table.Td>
      <Table.Td>
        <Moment at={at} />
      </Table.Td>
      <Table.Td>{author === 'file' ? w.file : author.replace(/^console /u, '')}</Table.Td>
      <Table.Td className={classes['wrap'] ?? ''}>{note === '' ? '–' : note}</Table.Td>
      {mayEdit ? (
        <Table.Td>
          {number === current && versions.length > 0 ? null : (
            <Group gap="xs" wrap="nowrap">
              <ConfirmButton
                size="xs"
                label={w.rollback}
                title={say(w.rollbackTitle, { version: number })}
                act={async () => {
                  await post(botPath(bot, '/rollback'), { version: number });
                  await again();
                }}
              >
                {w.rollbackHint}
              </ConfirmButton>
              {isShared ? (
                <ConfirmButton size="xs" label={w.endShare} title={w.endShare} act={() => give(0)} />
              ) : (
                <ConfirmButton
                  size="xs"
                  label={w.setShare}
                  title={say(w.shareTitle, { version: number })}
                  act={() => give(percent)}
                >
                  <Text size="sm">{say(w.shareHint, { current: current ?? w.file })}</Text>
                  <NumberInput
                    label={w.for}
                    suffix=" %"
                    min={1}
                    max={99}
                    allowDecimal={false}
                    value={percent}
                    onChange={(value) => setPercent(Math.min(99, Math.max(1, Number(value) || 1)))}
                  />
                </ConfirmButton>
              )}
            </Group>
          )}
        </Table.Td>
      ) : null}
    </Table.Tr>
  );
}

/** Two versions line by line; the two newest to begin with. */
function Comparison({ bot, versions }: { readonly bot: string; readonly versions: BotVersionsView['versions'] }): ReactNode {
  const w = useWords(editWords);
  const [chosen, setChosen] = useState<{ readonly from?: number; readonly to?: number }>({});
  const from = chosen.from ?? versions[1]?.number ?? 1;
  const to = chosen.to ?? versions[0]?.number ?? 1;
  const [before, after] = [useSource(bot, from), useSource(bot, to)];
  const numbers = versions.map(({ number }) => String(number));
  const hunks = before.data && after.data ? hunksOf(lineDiff(before.data.text, after.data.text)) : undefined;
  return (
    <Box mt="lg" component="section" aria-label={w.compare}>
      <Title order={2} size="h5" mb="xs">
        {w.compare}
      </Title>
      <Group gap="md" mb="sm">
        {(['from', 'to'] as const).map((side) => (
          <Select
            key={side}
            size="xs"
            w={110}
            label={w[side]}
            allowDeselect={false}
            value={String(side === 'from' ? from : to)}
            data={numbers}
            onChange={(next) => setChosen({ ...chosen, [side]: Number(next ?? 1) })}
          />
        ))}
      </Group>
      {hunks === undefined ? (
        <Loading />
      ) : hunks.every((line) => line?.kind === 'same') ? (
        <Text size="sm">{w.noDifference}</Text>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
        <pre className={classes['diff'] ?? ''} tabIndex={0} aria-label={say(w.difference, { from, to })}>
          {hunks.map((line, index) =>
            line === undefined ? (
              // The place of a gap is all that tells it from another.
              <div key={`gap ${index}`} className={classes['gap'] ?? ''}>
                {w.leftOut}
              </div>
            ) : (
              <div key={`${line.kind} ${line.line}`} className={classes[line.kind] ?? ''}>
                {{ same: ' ', added: '+', removed: '−' }[line.kind]} {line.text}
              </div>
            ),
          )}
        </pre>
      )}
    </Box>
  );
}
