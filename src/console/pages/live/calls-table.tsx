import { Group, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type ReactNode, useCallback, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import type { LiveCallView } from '../../live/watch-client.ts';
import { DataGrid, type GridCard, type GridColumn } from '../../parts/data-grid.tsx';
import { useWords } from '../../words.ts';
import classes from './live.module.css';
import { Age, Floor, Health, personOf, PHASES, Standing } from './standing.tsx';
import { liveWords, standingWords } from './words.ts';

type Column = GridColumn<LiveCallView>;

const byText =
  (read: (call: LiveCallView) => string): Column['compare'] & {} =>
  (a, b) =>
    read(a).localeCompare(read(b));
const byNumber =
  (read: (call: LiveCallView) => number): Column['compare'] & {} =>
  (a, b) =>
    read(a) - read(b);

/** Calls that want somebody's look sort last in ascending order. */
function badness({ health: { holesMs, lateMs, lastReplyMs } }: LiveCallView): number {
  return holesMs + lateMs + (lastReplyMs ?? 0);
}

/** Titles are the catalogue's words of the same names. */
const COLUMNS = [
  {
    name: 'phase',
    widthPx: 140,
    compare: byNumber(({ phase }) => PHASES.indexOf(phase)),
    cell: ({ phase }) => <Floor phase={phase} />,
  },
  { name: 'bot', widthPx: 96, compare: byText(({ bot }) => bot), cell: (call) => <Bot call={call} /> },
  { name: 'caller', widthPx: 164, compare: byText(personOf), cell: (call) => <Caller call={call} /> },
  {
    name: 'carrier',
    widthPx: 82,
    compare: byText(({ carrier }) => carrier),
    cell: ({ carrier }) => <span className={classes['dim']}>{carrier}</span>,
  },
  {
    name: 'age',
    widthPx: 68,
    atEnd: true,
    compare: byNumber(({ since }) => -Date.parse(since)),
    cell: ({ since }) => <Age since={since} />,
  },
  { name: 'turns', widthPx: 72, atEnd: true, compare: byNumber(({ turns }) => turns), cell: ({ turns }) => turns },
  { name: 'words', widthPx: 240, cell: (call) => <Words call={call} /> },
  { name: 'health', widthPx: 160, compare: byNumber(badness), cell: ({ health }) => <Health health={health} /> },
] as const satisfies readonly Omit<Column, 'title'>[];

/** Who has the floor and how the call fares, between whom it is, and what was said last. */
const CARD: GridCard<LiveCallView> = {
  heightPx: 92,
  show: (call) => (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Floor phase={call.phase} />
        <Group gap="xs" wrap="nowrap">
          <Health health={call.health} />
          <Age since={call.since} />
        </Group>
      </Group>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Bot call={call} />
        <Caller call={call} />
      </Group>
      <Words call={call} />
    </>
  ),
};

/** Live calls as a dense grid. */
export function CallsTable({ calls }: { readonly calls: readonly LiveCallView[] }): ReactNode {
  const w = useWords(liveWords);
  const [, navigate] = useLocation();
  const isPhone = useMediaQuery('(max-width: 62em)');
  const columns = useMemo((): readonly Column[] => COLUMNS.map((column) => ({ ...column, title: w[column.name] })), [w]);
  const open = useCallback(({ id }: LiveCallView) => navigate(`/live/${id}`), [navigate]);
  return (
    <DataGrid
      label={w.table}
      rows={calls}
      columns={columns}
      card={isPhone ? CARD : undefined}
      open={open}
      opensPage
      height={`calc(100dvh - ${isPhone ? 250 : 190}px)`}
    />
  );
}

function Bot({ call: { id, bot } }: { readonly call: LiveCallView }): ReactNode {
  return (
    <Link href={`/live/${id}`} tabIndex={-1} className={classes['link']}>
      {bot}
    </Link>
  );
}

function Caller({ call }: { readonly call: LiveCallView }): ReactNode {
  const w = useWords(liveWords);
  const direction = useWords(standingWords)[call.direction];
  return (
    <span>
      <span aria-hidden title={direction} className={classes['dim']}>
        {call.direction === 'inbound' ? '↙' : '↗'}{' '}
      </span>
      <VisuallyHidden>{direction}: </VisuallyHidden>
      <span className="figures">{personOf(call) === '' ? w['unknown-number'] : personOf(call)}</span>
    </span>
  );
}

function Words({ call }: { readonly call: LiveCallView }): ReactNode {
  return (
    <div className={classes['words']}>
      <Standing call={call} />
      <LastWords call={call} />
    </div>
  );
}

function LastWords({ call: { words, phase } }: { readonly call: LiveCallView }): ReactNode {
  const w = useWords(liveWords);
  if (words === null) return <span className={classes['dim']}>{w.noWords}</span>;
  // The caller's words are the last ones until the bot answers them.
  const isCallers = words.caller !== '' && (words.bot === '' || phase === 'thinking');
  const text = isCallers ? words.caller : words.bot;
  return text === '' ? null : (
    <span className={classes['last']} title={text}>
      <span className={classes['dim']}>{isCallers ? w.said : w.answered}: </span>
      {text}
    </span>
  );
}
