import { Button, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo } from 'react';
import { useLocation, useSearch, Link } from 'wouter';
import type { z } from 'zod';
import type { callCountView, callPageView } from '../../../http/api/calls/call-views.ts';
import { get, query, Refused } from '../../api.ts';
import { rememberCalls } from '../../parts/call-list.ts';
import { useFormat } from '../../parts/format.ts';
import { Page, Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import classes from './calls.module.css';
import { WantedWords, type Call, Collected, COLUMNS, type ColumnName, Outcome, Person, Took } from './columns.tsx';
import { FilterBar } from './filter-bar.tsx';
import { apiQuery, type Filters, readFilters, wantedWords, writeFilters } from './filters.ts';
import { ColumnsMenu, ExportMenu, SavedSearches, useShownColumns } from './tools.tsx';
import { callsWords } from './words.ts';
import { DataGrid, type DataGridProps, type GridCard } from '../../parts/data-grid.tsx';

type CallList = z.output<typeof callPageView>;
/** A first page that is soon there, then long ones: scrolling asks for fewer. */
const [FIRST, NEXT] = [100, 200];

/** The pages of a search, as far as they were asked for, and how many calls it finds. */
function useFoundCalls(asked: ReturnType<typeof apiQuery>) {
  const list = useInfiniteQuery({
    queryKey: ['calls', asked],
    queryFn: ({ pageParam, signal }) =>
      get<CallList>(`/calls${query({ ...asked, limit: pageParam === undefined ? FIRST : NEXT, cursor: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    // All pages would be asked for again, one after the other.
    staleTime: Number.POSITIVE_INFINITY,
    // Who listens to a call for long comes back to the row they left.
    gcTime: 30 * 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // Fast scrolling meets the rate limit.
    retry: (count, error) => count < 8 && (!(error instanceof Refused) || error.status === 429),
    retryDelay: 1_000,
  });
  const counted = useQuery({
    queryKey: ['calls-count', asked],
    queryFn: ({ signal }) => get<z.output<typeof callCountView>>(`/calls/count${query(asked)}`, signal),
    placeholderData: keepPreviousData,
  });
  return { list, counted };
}

/** Every call: searched, looked through, and exported. */
export function CallsPage(): ReactNode {
  const w = useWords(callsWords);
  const format = useFormat();
  const [, navigate] = useLocation();
  const search = useSearch();
  const client = useQueryClient();
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [shown, show] = useShownColumns();
  const filters = useMemo(() => readFilters(search), [search]);
  const asked = useMemo(() => apiQuery(filters), [filters]);
  const wanted = useMemo(() => wantedWords(filters.text), [filters]);

  const { list, counted } = useFoundCalls(asked);
  const calls = useMemo(() => list.data?.pages.flatMap((page) => page.calls) ?? [], [list.data]);
  useEffect(
    () =>
      rememberCalls(
        calls.map(({ id }) => id),
        search === '' ? '/calls' : `/calls?${search}`,
      ),
    [calls, search],
  );
  const { fetchNextPage, hasNextPage, isFetchingNextPage, error } = list;
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  const onSearch = (next: Filters): void => {
    const address = writeFilters(next);
    if (address !== writeFilters(filters)) navigate(address === '' ? '/calls' : `/calls?${address}`);
  };
  const refresh = (): void => {
    void client.resetQueries({ queryKey: ['calls', asked] });
    void client.invalidateQueries({ queryKey: ['calls-count', asked] });
  };
  const countText = (): string => {
    if (counted.data === undefined) return '';
    const { count, more } = counted.data;
    if (count === 1) return w.countOne;
    return say(more ? w.countMore : w.count, { count: format.number(count) });
  };
  const content = (): ReactNode => {
    if (list.data === undefined)
      return error === null ? <Loading shape="rows" /> : <Failure error={error} retry={() => void list.refetch()} />;
    if (calls.length === 0)
      return Object.keys(filters).length === 0 ? (
        <Empty title={w.none}>{w.noneHint}</Empty>
      ) : (
        <Empty title={w.noMatch}>
          {w.noMatchHint}{' '}
          <Button size="compact-sm" variant="light" onClick={() => onSearch({})}>
            {w.clear}
          </Button>
        </Empty>
      );
    return (
      <CallsTable
        // Another search begins at its top.
        key={writeFilters(filters)}
        calls={calls}
        shown={shown}
        narrow={narrow}
        total={counted.data?.more === false ? counted.data.count : 'unknown'}
        loadMore={hasNextPage && !isFetchingNextPage && error === null ? loadMore : undefined}
        footer={error === null ? hasNextPage ? w.loadingMore : w.end : <Failure error={error} retry={loadMore} />}
      />
    );
  };
  return (
    <Page
      title={w.title}
      actions={
        <>
          <Text component="output" size="sm" c="dimmed" className="figures">
            {countText()}
          </Text>
          <Button size="xs" variant="subtle" onClick={refresh} loading={list.isRefetching && !isFetchingNextPage}>
            {w.refresh}
          </Button>
        </>
      }
    >
      <WantedWords value={wanted}>
        <div className={classes.page}>
          <FilterBar narrow={narrow} filters={filters} calls={calls} onSearch={onSearch}>
            <SavedSearches search={writeFilters(filters)} />
            {narrow ? null : <ColumnsMenu shown={shown} onChange={show} />}
            <ExportMenu query={query(asked)} count={countText()} />
          </FilterBar>
          <div style={{ height: 12 }} />
          {content()}
        </div>
      </WantedWords>
    </Page>
  );
}

interface CallsTableProps extends Pick<DataGridProps<Call>, 'total' | 'loadMore' | 'footer'> {
  readonly calls: readonly Call[];
  readonly shown: ReadonlySet<ColumnName>;
  /** Rows of two lines, for narrow screens. */
  readonly narrow: boolean;
}

const CARD: GridCard<Call> = { heightPx: 64, show: (call) => <Card call={call} /> };

/** Calls of the columns that are shown. */
function CallsTable({ calls, shown, narrow, ...rest }: CallsTableProps): ReactNode {
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
          <Outcome call={call} />
          {call.disposition === null ? '' : ` · ${call.disposition}`}
          {Object.keys(call.variables).length + call.notes.length === 0 ? null : ' · '}
          <Collected call={call} />
        </span>
        <span className={`figures ${classes.whole}`}>
          <Took ms={call.durationMs} />
        </span>
      </div>
    </>
  );
}
