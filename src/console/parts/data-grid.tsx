/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/control-has-associated-label -- rows are placed by hand: elements of a table would place themselves */
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  memo,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useWords, words } from '../words.ts';
import { useActions } from './actions.ts';
import classes from './data-grid.module.css';
import { useGridPlace } from './grid-place.ts';
import { nextSorting, sortRows, type Sorting } from './grid-sorting.ts';

const texts = words({ next: 'Next row', previous: 'Previous row' }, { next: 'अगली पंक्ति', previous: 'पिछली पंक्ति' });

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
  const { kept, keep } = useGridPlace(scroller, opensPage);
  const [activeId, setActiveId] = useState(kept?.activeId);
  const [sorting, setSorting] = useState<readonly Sorting[]>(kept?.sorting ?? []);
  const rows = useMemo(() => sortRows(props.rows, columns, sorting), [props.rows, columns, sorting]);
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
  const { active, onKeyDown } = useGridKeys({ grid: scroller, rows, activeId, rowPx, opensPage }, (row, isOpened) => {
    if (!isOpened) {
      setActiveId(row.id);
      return virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    }
    keep(row.id, sorting);
    return open(row);
  });
  const clicked = useCallback(
    (event: MouseEvent, row: Row): void => {
      setActiveId(row.id);
      // A link opens by itself, also in another tab; selected text stays selected.
      if (event.target instanceof Element && event.target.closest('a') !== null) return;
      if (getSelection()?.isCollapsed !== false) open(row);
    },
    [open],
  );
  // What is wide grows: the last columns say most.
  const template = card === undefined ? columns.map(({ widthPx: px }) => `minmax(${px}px, ${px}fr)`).join(' ') : undefined;
  const minWidth = card === undefined ? columns.reduce((sum, { widthPx }) => sum + widthPx, 0) : undefined;
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
        if (at !== undefined) keep(at, sorting);
      }}
    >
      {card === undefined ? (
        <Head columns={columns} template={template} minWidth={minWidth} sorting={sorting} sort={setSorting} />
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

interface GridKeys<Row> {
  readonly grid: RefObject<HTMLElement | null>;
  readonly rows: readonly Row[];
  readonly activeId: string | undefined;
  readonly rowPx: number;
  readonly opensPage: boolean;
}

/** Keys of a grid: arrows, pages and ends move, Enter opens, and J and K move from anywhere on the page. @param to told which row to go to, or to open */
function useGridKeys<Row extends Identified>(
  { grid, rows, activeId, rowPx, opensPage }: GridKeys<Row>,
  to: (row: Row, isOpened: boolean) => void,
) {
  const w = useWords(texts);
  const found = rows.findIndex((row) => row.id === activeId);
  const active = Math.max(0, found);
  const move = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row !== undefined) to(row, false);
  };
  const step = (by: number): void => {
    grid.current?.focus({ preventScroll: true });
    move(found === -1 ? 0 : active + by);
  };
  useActions(
    opensPage
      ? [
          { name: w.next, keys: 'j', run: () => step(1) },
          { name: w.previous, keys: 'k', run: () => step(-1) },
        ]
      : [],
  );
  const page = (): number => Math.max(1, Math.floor((grid.current?.clientHeight ?? 400) / rowPx) - 1);
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + page()),
    PageUp: () => move(active - page()),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => {
      const row = rows[active];
      if (row !== undefined) to(row, true);
    },
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = event.target === event.currentTarget ? keys[event.key] : undefined;
    if (act === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
  return { active, onKeyDown };
}

function Head<Row>({
  columns,
  template,
  minWidth,
  sorting,
  sort,
}: {
  readonly columns: readonly GridColumn<Row>[];
  readonly template: string | undefined;
  readonly minWidth: number | undefined;
  readonly sorting: readonly Sorting[];
  readonly sort: (next: readonly Sorting[]) => void;
}): ReactNode {
  return (
    <div role="rowgroup" className={classes.head} style={{ minWidth }}>
      <div role="row" aria-rowindex={1} className={classes.names} style={{ gridTemplateColumns: template }}>
        {columns.map((column) => (
          <Heading key={column.name} column={column} sorting={sorting} sort={sort} />
        ))}
      </div>
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
