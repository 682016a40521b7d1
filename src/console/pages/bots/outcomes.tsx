import { Box, Group, ScrollArea, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FiguresView as Tally } from '../../../http/api/calls/statistics-views.ts';
import { type Format, useFormat } from '../../parts/format.ts';
import { Headings, Empty, Failure, Loading } from '../../parts/states.tsx';
import { useWords } from '../../words.ts';
import classes from './bots.module.css';
import { type Counted, useStats } from './queries.ts';
import { botsWords, type Ending, ENDINGS, endingWords } from './words.ts';

/** How a bot's calls ended and how long callers waited, by version and by day. */
export function Outcomes({ bot, counted }: { readonly bot: string; readonly counted: Counted }): ReactNode {
  const w = useWords(botsWords);
  const format = useFormat();
  const { data, error, refetch } = useStats(bot, counted);
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.total.calls === 0) return <Empty title={w.noCalls}>{w.noCallsHint}</Empty>;
  const all = { key: 'all', name: w.total, tally: data.total };
  return (
    <Stack gap="lg">
      <Legend endings={data.total.endings} />
      <Tallies
        title={w.byVersion}
        head={w.version}
        rows={[
          all,
          ...(data.versions ?? []).map((each) => ({ key: `${each.version}`, name: each.version ?? w.olderVersion, tally: each })),
        ]}
      />
      <Tallies
        title={w.byDay}
        head={w.day}
        rows={(data.days ?? [])
          .filter(({ calls }) => calls > 0)
          .toReversed()
          .map((each) => ({ key: each.day, name: format.day(each.day), tally: each }))}
      />
      <Box>
        <Title order={2} size="h5" mb="xs">
          {w.dispositions}
        </Title>
        <Group gap="lg">
          {data.dispositions?.map(({ disposition, calls }) => (
            <Text key={`${disposition}`} size="sm" className="figures">
              {disposition ?? w.noDisposition} <strong>{format.number(calls)}</strong>
            </Text>
          ))}
        </Group>
      </Box>
    </Stack>
  );
}

function Legend({ endings }: { readonly endings: Tally['endings'] }): ReactNode {
  const names = useWords(endingWords);
  const format = useFormat();
  return (
    <Group gap="md">
      {endingsIn(endings).map(([ending, calls]) => (
        <Text key={ending} size="sm" className="figures">
          <span className={`${classes['swatch']} ${classes[ending]}`} aria-hidden />
          {names[ending]} <strong>{format.number(calls)}</strong>
        </Text>
      ))}
    </Group>
  );
}

interface Row {
  readonly key: string;
  readonly name: string;
  readonly tally: Tally;
}

function Tallies({
  title,
  head,
  rows,
}: {
  readonly title: string;
  readonly head: string;
  readonly rows: readonly Row[];
}): ReactNode {
  const w = useWords(botsWords);
  const format = useFormat();
  const most = Math.max(1, ...rows.map(({ tally }) => tally.calls));
  return (
    <Box>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
        <Table miw={620} className="figures">
          <Headings names={[head, w.calls, w.completed, w.endings, w.waits]} />
          <Table.Tbody>
            {rows.map(({ key, name, tally }) => (
              <Table.Tr key={key}>
                <Table.Td fw={key === 'all' ? 600 : undefined}>{name}</Table.Td>
                <Table.Td>{format.number(tally.calls)}</Table.Td>
                <Table.Td>{format.share(tally.endings.finished + tally.endings.transferred, tally.calls)}</Table.Td>
                <Table.Td w="40%">
                  <Bar tally={tally} share={tally.calls / most} />
                </Table.Td>
                <Table.Td>{waitsText(tally, format)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
    </Box>
  );
}

/** As long as its share of calls; its parts are endings, which its text says too. */
function Bar({ tally, share }: { readonly tally: Tally; readonly share: number }): ReactNode {
  const names = useWords(endingWords);
  const parts = endingsIn(tally.endings);
  return (
    <div
      className={classes['bar']}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a drawing of boxes, no file
      role="img"
      style={{ width: `${100 * share}%` }}
      aria-label={parts.map(([ending, calls]) => `${names[ending]} ${calls}`).join(', ')}
    >
      {parts.map(([ending, calls]) => (
        <div
          key={ending}
          className={`${classes['part']} ${classes[ending]}`}
          style={{ width: `${(100 * calls) / Math.max(1, tally.calls)}%` }}
          title={`${names[ending]} ${calls}`}
        />
      ))}
    </div>
  );
}

function waitsText({ replies }: Tally, format: Format): string {
  if (replies === null) return '–';
  return [replies.p50Ms, replies.p90Ms, replies.p99Ms].map(format.duration).join(' · ');
}

function endingsIn(endings: Tally['endings']): [Ending, number][] {
  return ENDINGS.flatMap((ending): [Ending, number][] => {
    const calls = endings[ending] ?? 0;
    return calls === 0 ? [] : [[ending, calls]];
  });
}
