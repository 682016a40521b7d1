import { type ReactNode, useCallback, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { DataGrid, type DataGridProps, type GridCard } from '../../parts/data-grid.tsx';
import { useFormat } from '../../parts/format.ts';
import { Moment } from '../../parts/time.tsx';
import { useWords } from '../../words.ts';
import classes from './calls.module.css';
import { type Call, Collected, COLUMNS, type ColumnName, Outcome, Person, Took } from './columns.tsx';
import { callsWords } from './words.ts';

export interface CallsTableProps extends Pick<DataGridProps<Call>, 'total' | 'loadMore' | 'footer'> {
  readonly calls: readonly Call[];
  readonly shown: ReadonlySet<ColumnName>;
  /** Rows of two lines, for narrow screens. */
  readonly narrow: boolean;
}

const CARD: GridCard<Call> = { heightPx: 64, show: (call) => <Card call={call} /> };

/** Calls of the columns that are shown. */
export function CallsTable({ calls, shown, narrow, ...rest }: CallsTableProps): ReactNode {
  const w = useWords(callsWords);
  const format = useFormat();
  const [, navigate] = useLocation();
  const columns = useMemo(
    () =>
      COLUMNS.filter(({ name }) => shown.has(name)).map((column) => {
        const title = w[column.word];
        return { ...column, title: column.name === 'time' ? `${title} (${format.zone()})` : title };
      }),
    [shown, w, format],
  );
  const open = useCallback(({ id }: Call) => navigate(`/calls/${encodeURIComponent(id)}`), [navigate]);
  return (
    <DataGrid label={w.table} rows={calls} columns={columns} card={narrow ? CARD : undefined} open={open} opensPage {...rest} />
  );
}

/** A call on a phone: who and when, then how it went. */
function Card({ call }: { readonly call: Call }): ReactNode {
  return (
    <>
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
        <span className={`figures ${classes.whole}`}>
          <Took ms={call.durationMs} />
        </span>
      </div>
    </>
  );
}
