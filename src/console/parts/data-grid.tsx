/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/control-has-associated-label -- rows are placed by hand: elements of a table would place themselves */
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  memo,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import classes from './data-grid.module.css';

const ROW_PX = 36;
const HEAD_PX = 34;
/** The next page is asked for while so many rows are still below. */
const AHEAD = 60;

export interface GridColumn<Row> {
  readonly name: string;
  readonly title: string;
  /** At least so wide; columns share what is left in proportion. */
  readonly widthPx: number;
  /** Given the same row again, it shows the same. */
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the end of their column. */
  readonly atEnd?: boolean;
  /** The order of rows by this column; absent where it cannot be sorted by. */
  readonly compare?: (a: Row, b: Row) => number;
}

/** A row as a card in place of cells, for narrow screens. */
export interface GridCard<Row> {
  readonly heightPx: number;
  readonly show: (row: Row) => ReactNode;
}

export interface DataGridProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** The same array while nothing of it changes: rows are made again with others. */
  readonly columns: readonly GridColumn<Row>[];
  readonly card?: GridCard<Row> | undefined;
  /** Told of a click and of Enter; the same function each time. */
  readonly open: (row: Row) => void;
  /** Opening leads to another page, from which people come back. */
  readonly opensPage?: boolean;
  /** All rows that there are, where known; those that are given when absent. */
  readonly total?: number | 'unknown';
  /** Asks for the next page; undefined when there is none, or it is being asked for. */
  readonly loadMore?: (() => void) | undefined;
  readonly footer?: ReactNode;
  readonly height?: string;
  readonly maxHeight?: string;
}

type Identified = { readonly id: string };

/**
 * Rows as a grid of which only those in sight are in the document. Arrow keys move, Enter opens. Somebody who opens a row and
 * comes back finds the focus, the row, the scroll and the order as they were.
 */
export function DataGrid<Row extends Identified>(props: DataGridProps<Row>): ReactNode {
  const { label, columns, card, open, opensPage = false, total = props.rows.length, loadMore, footer, height, maxHeight } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [kept] = useState(() => (opensPage ? keptPlace() : undefined));
  const [activeId, setActiveId] = useState(kept?.activeId);
  const [sorting, setSorting] = useState<readonly Sorting[]>(kept?.sorting ?? []);
  const rows = useMemo(() => sortRows(props.rows, columns, sorting), [props.rows, columns, sorting]);
  const active = Math.max(
    0,
    rows.findIndex((row) => row.id === activeId),
  );
  const rowPx = card?.heightPx ?? ROW_PX;
  // oxlint-disable-next-line react/incompatible-library -- no compiler keeps its answers here
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => rows[index]?.id ?? index,
    scrollPaddingEnd: card === undefined ? HEAD_PX : 0,
    initialOffset: kept?.topPx ?? 0,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - AHEAD) loadMore?.();
  }, [last, rows.length, loadMore]);
  useEffect(() => virtual.measure(), [virtual, rowPx]);
  // Ends and begins again, too, where the grid is hidden while the page behind it loads, which takes its scroll and its focus.
  const place = useRef({ topPx: kept?.topPx ?? 0, hasFocus: kept !== undefined });
  useLayoutEffect(() => {
    const grid = scroller.current;
    if (grid === null) return undefined;
    const { topPx, hasFocus } = place.current;
    if (topPx > 0) grid.scrollTop = topPx;
    // Back from a row's page, the keyboard goes on at that row.
    if (hasFocus) grid.focus({ preventScroll: true });
    return () => {
      place.current = { topPx: grid.scrollTop, hasFocus: document.activeElement === grid };
    };
  }, []);

  // What is wide grows: the last columns say most.
  const template = card === undefined ? columns.map(({ widthPx: px }) => `minmax(${px}px, ${px}fr)`).join(' ') : undefined;
  const minWidth = card === undefined ? columns.reduce((sum, { widthPx }) => sum + widthPx, 0) : undefined;
  const keep = (at: string): void => {
    if (opensPage) keepPlace({ activeId: at, topPx: scroller.current?.scrollTop ?? 0, sorting });
  };
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActiveId(rows[next]?.id);
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / rowPx) - 1);
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + page),
    PageUp: () => move(active - page),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => {
      const row = rows[active];
      if (row === undefined) return;
      keep(row.id);
      open(row);
    },
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = event.target === event.currentTarget ? keys[event.key] : undefined;
    if (act === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
  const clicked = useCallback(
    (event: MouseEvent, row: Row): void => {
      setActiveId(row.id);
      // A link opens by itself, also in another tab; selected text stays selected.
      if (event.target instanceof Element && event.target.closest('a') !== null) return;
      if (getSelection()?.isCollapsed !== false) open(row);
    },
    [open],
  );
  const rowId = (row: Row): string => `${id}-${row.id}`;
  const activeRow = items.some(({ index }) => index === active) ? rows[active] : undefined;

  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- Enter does the same
    <div
      ref={scroller}
      className={classes.scroller}
      style={{ height, maxHeight }}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={total === 'unknown' ? -1 : total + 1}
      aria-activedescendant={activeRow === undefined ? undefined : rowId(activeRow)}
      onKeyDown={onKeyDown}
      onClickCapture={({ target }) => {
        // Before a row or a link of it leads away.
        const at = target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset['row'] : undefined;
        if (at !== undefined) keep(at);
      }}
    >
      {card === undefined ? (
        <div role="rowgroup" className={classes.head} style={{ minWidth }}>
          <div role="row" aria-rowindex={1} className={classes.names} style={{ gridTemplateColumns: template }}>
            {columns.map((column) => (
              <Heading key={column.name} column={column} sorting={sorting} sort={setSorting} />
            ))}
          </div>
        </div>
      ) : null}
      <div role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize(), minWidth }}>
        {items.map(({ index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <GridRow
              key={row.id}
              id={rowId(row)}
              row={row}
              columns={columns}
              card={card}
              index={index}
              start={start}
              active={index === active}
              template={template}
              clicked={clicked}
            />
          );
        })}
      </div>
      {footer === undefined ? null : <div className={classes.foot}>{footer}</div>}
    </div>
  );
}

function Heading<Row>({
  column: { name, title, atEnd, compare },
  sorting,
  sort,
}: {
  readonly column: GridColumn<Row>;
  readonly sorting: readonly Sorting[];
  readonly sort: (next: readonly Sorting[]) => void;
}): ReactNode {
  const sorted = sorting.find((each) => each.column === name)?.direction;
  return (
    <div role="columnheader" aria-sort={sorted} className={atEnd === true ? `${classes.cell} ${classes.end}` : classes.cell}>
      {compare === undefined ? (
        title
      ) : (
        <button type="button" onClick={({ shiftKey }) => sort(nextSorting(sorting, name, shiftKey))} className={classes.sort}>
          {title}
          <span aria-hidden>{sorted === 'ascending' ? ' ↑' : sorted === 'descending' ? ' ↓' : ''}</span>
        </button>
      )}
    </div>
  );
}

interface GridRowProps<Row> {
  readonly id: string;
  readonly row: Row;
  readonly columns: readonly GridColumn<Row>[];
  readonly card: GridCard<Row> | undefined;
  readonly index: number;
  readonly start: number;
  readonly active: boolean;
  readonly template: string | undefined;
  readonly clicked: (event: MouseEvent, row: Row) => void;
}

function GridRowOnce<Row extends Identified>(props: GridRowProps<Row>): ReactNode {
  const { id, row, columns, card, index, start, active, template, clicked } = props;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the grid has the keys
    <div
      id={id}
      role="row"
      data-row={row.id}
      aria-rowindex={index + 2}
      aria-selected={active}
      className={active ? `${classes.row} ${classes.active}` : classes.row}
      style={{ height: card?.heightPx ?? ROW_PX, transform: `translateY(${start}px)`, gridTemplateColumns: template }}
      onClick={(event) => clicked(event, row)}
    >
      {card === undefined ? (
        columns.map(({ name, atEnd, cell }) => (
          <div key={name} role="gridcell" className={atEnd === true ? `${classes.cell} ${classes.end}` : classes.cell}>
            {cell(row)}
          </div>
        ))
      ) : (
        <div role="gridcell" className={classes.card}>
          {card.show(row)}
        </div>
      )}
    </div>
  );
}

/** Drawn again only when its own row changed: 200 live calls change twice a second. */
const GridRow = memo(GridRowOnce) as typeof GridRowOnce; // memo forgets that the function is generic

interface Sorting {
  readonly column: string;
  readonly direction: 'ascending' | 'descending';
}

/** Sorts a column up, then down, then not at all. @param keepOthers whether the other columns go on to count */
function nextSorting(sorting: readonly Sorting[], column: string, keepOthers: boolean): readonly Sorting[] {
  const before = sorting.find((each) => each.column === column);
  if (before === undefined) return [...(keepOthers ? sorting : []), { column, direction: 'ascending' }];
  const after: readonly Sorting[] = before.direction === 'ascending' ? [{ column, direction: 'descending' }] : [];
  return keepOthers ? sorting.flatMap((each) => (each === before ? after : [each])) : after;
}

/** In the order they came, where no column tells them apart. */
function sortRows<Row>(rows: readonly Row[], columns: readonly GridColumn<Row>[], sorting: readonly Sorting[]): readonly Row[] {
  if (sorting.length === 0) return rows;
  return rows.toSorted((a, b) => {
    for (const { column, direction } of sorting) {
      const order = columns.find(({ name }) => name === column)?.compare?.(a, b) ?? 0;
      if (order !== 0) return direction === 'ascending' ? order : -order;
    }
    return 0;
  });
}

/** Where somebody was in a grid when they left it. */
interface Place {
  readonly activeId: string;
  readonly topPx: number;
  readonly sorting: readonly Sorting[];
}

/** By the name that the page's entry of the history has of it. */
const places = new Map<string, Place>();
const MOST_PLACES = 50;

function keepPlace(place: Place): void {
  const name = crypto.randomUUID();
  const [oldest] = places.keys();
  if (oldest !== undefined && places.size >= MOST_PLACES) places.delete(oldest);
  places.set(name, place);
  const state: unknown = history.state;
  history.replaceState({ ...(typeof state === 'object' ? state : {}), grid: name }, '');
}

/** The place that was kept with the page's entry of the history: there is one after going back to it. */
function keptPlace(): Place | undefined {
  const state: unknown = history.state;
  if (typeof state !== 'object' || state === null || !('grid' in state) || typeof state.grid !== 'string') return undefined;
  return places.get(state.grid);
}
