import { useVirtualizer } from '@tanstack/react-virtual';
import { VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type KeyboardEvent, memo, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { LiveCallView } from '../../live/watch-client.ts';
import { useWords } from '../../words.ts';
import classes from './live.module.css';
import { Age, Floor, Health, personOf, PHASES, Standing } from './standing.tsx';
import { liveWords, standingWords } from './words.ts';

/** Row height in px: a line on a desktop, three on a phone. */
const ROW = { desk: 42, phone: 92 } as const;
const PHONE = '(max-width: 62em)';

type Compare = (a: LiveCallView, b: LiveCallView) => number;

const byText =
  (read: (call: LiveCallView) => string): Compare =>
  (a, b) =>
    read(a).localeCompare(read(b));
const byNumber =
  (read: (call: LiveCallView) => number): Compare =>
  (a, b) =>
    read(a) - read(b);

/** How calls sort by each column that can be sorted by. */
const COLUMNS = {
  phase: byNumber(({ phase }) => PHASES.indexOf(phase)),
  bot: byText(({ bot }) => bot),
  caller: byText(personOf),
  carrier: byText(({ carrier }) => carrier),
  age: byNumber(({ since }) => -Date.parse(since)),
  turns: byNumber(({ turns }) => turns),
  words: undefined,
  health: byNumber(badness),
} as const satisfies Readonly<Record<string, Compare | undefined>>;
type Column = keyof typeof COLUMNS;
const COLUMN_NAMES = Object.keys(COLUMNS) as readonly Column[];

interface Sorting {
  readonly column: Column;
  readonly direction: 'ascending' | 'descending';
}

/** Sorts a column up, then down, then not at all. @param keepOthers whether the other columns go on to count */
function nextSorting(sorting: readonly Sorting[], column: Column, keepOthers: boolean): readonly Sorting[] {
  const before = sorting.find((each) => each.column === column);
  if (before === undefined) return [...(keepOthers ? sorting : []), { column, direction: 'ascending' }];
  const after: readonly Sorting[] = before.direction === 'ascending' ? [{ column, direction: 'descending' }] : [];
  return keepOthers ? sorting.flatMap((each) => (each === before ? after : [each])) : after;
}

/** In the order they came, where no column tells them apart. */
function sortCalls(calls: readonly LiveCallView[], sorting: readonly Sorting[]): readonly LiveCallView[] {
  if (sorting.length === 0) return calls;
  return calls.toSorted((a, b) => {
    for (const { column, direction } of sorting) {
      const order = COLUMNS[column]?.(a, b) ?? 0;
      if (order !== 0) return direction === 'ascending' ? order : -order;
    }
    return 0;
  });
}

/** Sort key: calls with problems come last in ascending order. */
function badness({ health: { holesMs, lateMs, lastReplyMs } }: LiveCallView): number {
  return holesMs + lateMs + (lastReplyMs ?? 0);
}

/** Calls as a dense grid: arrow keys move, Enter opens; only rows in sight are in the page. */
export function CallsTable({ calls }: { readonly calls: readonly LiveCallView[] }): ReactNode {
  const w = useWords(liveWords);
  const [, navigate] = useLocation();
  const [sorting, setSorting] = useState<readonly Sorting[]>([]);
  const rows = useMemo(() => sortCalls(calls, sorting), [calls, sorting]);
  const isPhone = useMediaQuery(PHONE);
  const height = isPhone ? ROW.phone : ROW.desk;
  const frame = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- nothing that is memoised is given its functions
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 6,
  });
  useEffect(() => virtual.measure(), [virtual, height]);

  // One row is in the order of Tab; the arrow keys move that.
  const [current, setCurrent] = useState<string>();
  const [focus, setFocus] = useState(false);
  const index = Math.max(
    0,
    rows.findIndex(({ id }) => id === current),
  );
  const move = (event: KeyboardEvent) => {
    const step = stepOf(event.key, Math.floor((frame.current?.clientHeight ?? height) / height));
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = Math.min(rows.length - 1, Math.max(0, index + step));
    virtual.scrollToIndex(next);
    setCurrent(rows[next]?.id);
    setFocus(true);
  };
  const focused = useCallback((callId: string) => setCurrent(callId), []);
  const open = useCallback((callId: string) => navigate(`/live/${callId}`), [navigate]);
  return (
    <div ref={frame} className={classes['frame']}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- its rows are walked through and opened */}
      <table role="grid" aria-label={w.table} aria-rowcount={rows.length + 1} aria-colcount={COLUMN_NAMES.length}>
        <thead>
          <tr aria-rowindex={1} className={`${classes['row']} ${classes['head']}`}>
            {COLUMN_NAMES.map((column) => {
              const sorted = sorting.find((each) => each.column === column)?.direction;
              return (
                <th key={column} scope="col" className={classes[column]} aria-sort={sorted}>
                  {COLUMNS[column] === undefined ? (
                    w[column]
                  ) : (
                    <button
                      type="button"
                      onClick={({ shiftKey }) => setSorting(nextSorting(sorting, column, shiftKey))}
                      className={classes['sort']}
                    >
                      {w[column]}
                      <span aria-hidden>{sorted === 'ascending' ? ' ↑' : sorted === 'descending' ? ' ↓' : ''}</span>
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys of its rows */}
        <tbody className={classes['body']} style={{ height: virtual.getTotalSize() }} onKeyDown={move}>
          {virtual.getVirtualItems().map(({ index: at, start }) => {
            const call = rows[at];
            return call === undefined ? null : (
              <CallRow
                key={call.id}
                call={call}
                rowIndex={at + 2}
                start={start}
                height={height}
                isCurrent={at === index}
                takesFocus={focus && at === index}
                focused={focused}
                open={open}
              />
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function stepOf(key: string, page: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return 1;
    case 'ArrowUp':
      return -1;
    case 'PageDown':
      return page;
    case 'PageUp':
      return -page;
    case 'Home':
      return -Infinity;
    case 'End':
      return Infinity;
    default:
      return undefined;
  }
}

interface CallRowProps {
  readonly call: LiveCallView;
  readonly rowIndex: number;
  readonly start: number;
  readonly height: number;
  readonly isCurrent: boolean;
  readonly takesFocus: boolean;
  readonly focused: (callId: string) => void;
  readonly open: (callId: string) => void;
}

/** Drawn again only when its call changed: that is what lets 200 calls change twice a second. */
const CallRow = memo(function CallRow(props: CallRowProps): ReactNode {
  const { call, rowIndex, start, height, isCurrent, takesFocus, focused, open } = props;
  const w = useWords(liveWords);
  const direction = useWords(standingWords)[call.direction];
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (takesFocus) row.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <tr
      ref={row}
      aria-rowindex={rowIndex}
      tabIndex={isCurrent ? 0 : -1}
      className={classes['row']}
      data-call={call.id}
      style={{ transform: `translateY(${start}px)`, height }}
      onFocus={() => focused(call.id)}
      onClick={() => open(call.id)}
      onKeyDown={({ key, target, currentTarget }) => {
        if (key === 'Enter' && target === currentTarget) open(call.id);
      }}
    >
      <td className={classes['phase']}>
        <Floor phase={call.phase} />
      </td>
      <td className={classes['bot']}>
        <Link href={`/live/${call.id}`} tabIndex={-1} className={classes['link']} onClick={(event) => event.stopPropagation()}>
          {call.bot}
        </Link>
      </td>
      <td className={classes['caller']}>
        <span aria-hidden title={direction} className={classes['dim']}>
          {call.direction === 'inbound' ? '↙' : '↗'}{' '}
        </span>
        <VisuallyHidden>{direction}: </VisuallyHidden>
        <span className="figures">{personOf(call) === '' ? w['unknown-number'] : personOf(call)}</span>
      </td>
      <td className={`${classes['carrier']} ${classes['dim']}`}>{call.carrier}</td>
      <td className={classes['age']}>
        <Age since={call.since} />
      </td>
      <td className={`${classes['turns']} figures`}>{call.turns}</td>
      <td className={classes['words']}>
        <Standing call={call} />
        <LastWords call={call} />
      </td>
      <td className={classes['health']}>
        <Health health={call.health} />
      </td>
    </tr>
  );
});

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
