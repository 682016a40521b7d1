/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/control-has-associated-label -- rows are placed by hand: elements of a table would place themselves */
import { FlexRender, type Row, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  memo,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Link, useLocation } from 'wouter';
import { Moment, clockText } from '../../parts/time.tsx';
import { useWords } from '../../words.ts';
import classes from './calls.module.css';
import {
  AT_END,
  type Call,
  Collected,
  COLUMN_NAMES,
  type ColumnName,
  COLUMNS,
  columns,
  features,
  Outcome,
  Person,
} from './columns.tsx';
import { callsWords } from './words.ts';

const ROW_PX = 40;
/** Height of a two-line row on a phone. */
const CARD_PX = 64;
/** Rows left below when the next page is requested. */
const AHEAD = 60;

export interface CallsTableProps {
  readonly calls: readonly Call[];
  readonly shown: ReadonlySet<ColumnName>;
  /** Rows of two lines, for narrow screens. */
  readonly narrow: boolean;
  /** All calls that the search finds, where known. */
  readonly total: number | undefined;
  /** Requests the next page; undefined without one, or while it is loading. */
  readonly loadMore: (() => void) | undefined;
  readonly footer: ReactNode;
}

/** Calls as a grid of which only the rows in sight are in the document. */
export function CallsTable({ calls, shown, narrow, total, loadMore, footer }: CallsTableProps): ReactNode {
  const w = useWords(callsWords);
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const [, navigate] = useLocation();
  const visible = useMemo(
    () => ({ columnVisibility: Object.fromEntries(COLUMN_NAMES.map((name) => [name, shown.has(name)])) }),
    [shown],
  );
  const table = useTable({
    features,
    columns,
    data: calls,
    getRowId: (call) => call.id,
    state: visible,
  });
  const { rows } = table.getRowModel();
  const rowPx = narrow ? CARD_PX : ROW_PX;
  // oxlint-disable-next-line react/incompatible-library -- no compiler keeps its answers here
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - AHEAD) loadMore?.();
  }, [last, rows.length, loadMore]);
  useEffect(() => virtual.measure(), [virtual, rowPx]);

  const widths = COLUMN_NAMES.filter((name) => shown.has(name)).map((name) => COLUMNS[name].width);
  // What is wide grows: the last columns say most.
  const template = narrow ? undefined : widths.map((px) => `minmax(${px}px, ${px}fr)`).join(' ');
  const minWidth = narrow ? undefined : widths.reduce((sum, px) => sum + px, 0);

  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActive(next);
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  const open = useCallback((call: Call): void => navigate(`/calls/${encodeURIComponent(call.id)}`), [navigate]);
  const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / rowPx) - 1);
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + page),
    PageUp: () => move(active - page),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => {
      const call = rows[active]?.original;
      if (call !== undefined) open(call);
    },
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = event.target === event.currentTarget ? keys[event.key] : undefined;
    if (act === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
  const onClick = useCallback(
    (event: MouseEvent, index: number, call: Call): void => {
      setActive(index);
      // A link opens by itself, also in another tab; selected text stays selected.
      if ((event.target as HTMLElement).closest('a') !== null || getSelection()?.isCollapsed === false) return;
      open(call);
    },
    [open],
  );
  const rowId = (index: number): string => `${id}-${index}`;

  return (
    <div
      ref={scroller}
      className={classes.scroller}
      role="grid"
      tabIndex={0}
      aria-label={w.table}
      aria-rowcount={total === undefined ? -1 : total + 1}
      aria-activedescendant={items.some(({ index }) => index === active) ? rowId(active) : undefined}
      onKeyDown={onKeyDown}
    >
      {narrow ? null : (
        <div role="rowgroup" className={classes.head} style={{ minWidth }}>
          <div role="row" aria-rowindex={1} className={classes.names} style={{ gridTemplateColumns: template }}>
            {table.getVisibleLeafColumns().map(({ id: name }) => (
              <div key={name} role="columnheader" className={`${classes.cell} ${AT_END.has(name) ? classes.end : ''}`}>
                {w[COLUMNS[name as ColumnName].word]}
              </div>
            ))}
          </div>
        </div>
      )}
      <div role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize(), minWidth }}>
        {items.map(({ index, start, size }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <CallRow
              key={row.id}
              id={rowId(index)}
              row={row}
              index={index}
              start={start}
              size={size}
              active={index === active}
              narrow={narrow}
              template={template}
              onClick={onClick}
            />
          );
        })}
      </div>
      <div className={classes.foot}>{footer}</div>
    </div>
  );
}

interface CallRowProps {
  readonly id: string;
  readonly row: Row<typeof features, Call>;
  readonly index: number;
  readonly start: number;
  readonly size: number;
  readonly active: boolean;
  readonly narrow: boolean;
  /** Grid template of the shown columns. */
  readonly template: string | undefined;
  readonly onClick: (event: MouseEvent, index: number, call: Call) => void;
}

/** Rows that stay in sight while others come are not made again. */
const CallRow = memo(function CallRow(props: CallRowProps): ReactNode {
  const { id, row, index, start, size, active, narrow, template, onClick } = props;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the grid has the keys
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={active}
      className={active ? `${classes.row} ${classes.active}` : classes.row}
      style={{ height: size, transform: `translateY(${start}px)`, gridTemplateColumns: template }}
      onClick={(event) => onClick(event, index, row.original)}
    >
      {narrow ? (
        <Card call={row.original} />
      ) : (
        row.getVisibleCells().map((cell) => (
          <div
            key={cell.id}
            role="gridcell"
            className={AT_END.has(cell.column.id) ? `${classes.cell} ${classes.end}` : classes.cell}
          >
            <FlexRender cell={cell} />
          </div>
        ))
      )}
    </div>
  );
});

/** A call on a phone: person and time, then result. */
function Card({ call }: { readonly call: Call }): ReactNode {
  return (
    <div role="gridcell" className={classes.card}>
      <div className={classes.line}>
        <Link href={`/calls/${encodeURIComponent(call.id)}`} tabIndex={-1}>
          <Person call={call} /> · {call.bot}
        </Link>
        <span className={classes.whole}>
          <Moment at={call.startedAt} />
        </span>
      </div>
      <div className={classes.line}>
        <span>
          <Outcome call={call} /> {call.disposition === null ? '' : `· ${call.disposition} `}
          <Collected call={call} />
        </span>
        <span className={`figures ${classes.whole}`}>{call.durationMs === null ? '' : clockText(call.durationMs)}</span>
      </div>
    </div>
  );
}
