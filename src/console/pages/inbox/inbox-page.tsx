import { Button, Checkbox, Group, SegmentedControl, Select, Skeleton, Text } from '@mantine/core';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { useLocation, useSearch } from 'wouter';
import { query } from '../../api.ts';
import { clockText, useFormat } from '../../parts/format.ts';
import { Empty, Failure, Moment, Page } from '../../parts/states.tsx';
import { useMay, useSession } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { CallPreview } from './call-preview.tsx';
import css from './inbox.module.css';
import { type Listed, type ReviewFilters, useOpenCount, useReviewChange, useReviews } from './queries.ts';
import { inboxWords, reasonWords } from './words.ts';

/** The page's address: what the list shows, and the call beside it. */
interface Place extends ReviewFilters {
  readonly call: string | undefined;
}

function placeIn(search: string): Place {
  const given = new URLSearchParams(search);
  const of = (name: string): string | undefined => given.get(name) ?? undefined;
  return {
    state: of('state') === 'done' ? 'done' : 'open',
    reason: of('reason'),
    bot: of('bot'),
    assignee: of('assignee'),
    call: of('call'),
  };
}

/** Calls that deserve a look, one after the other. */
export function InboxPage(): ReactNode {
  const w = useWords(inboxWords);
  const [, navigate] = useLocation();
  const { call, ...filters } = placeIn(useSearch());
  const list = useReviews(filters);
  const rows = list.data?.pages.flatMap(({ reviews }) => reviews) ?? [];
  const go = (place: Partial<Place>): void => {
    const { state, ...rest } = { ...filters, call, ...place };
    navigate(`/inbox${query({ ...rest, state: state === 'open' ? undefined : state })}`, { replace: true });
  };
  const at = rows.findIndex(({ callId }) => callId === call);
  const chosen = rows[at];
  const step = (by: 1 | -1): void => {
    const next = rows[at === -1 ? 0 : at + by];
    if (next !== undefined) go({ call: next.callId });
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  return (
    <Page title={w.title} actions={<Count />}>
      <div className={css['split']} data-chosen={call !== undefined}>
        <section className={css['left']}>
          <Filters filters={filters} onChange={(changed) => go({ ...changed, call: undefined })} />
          {list.error === null ? null : <Failure error={list.error} retry={() => void list.refetch()} />}
          {list.data === undefined ? (
            <Skeletons />
          ) : rows.length === 0 ? (
            <Nothing filters={filters} />
          ) : (
            <List rows={rows} call={call} onChoose={(callId) => go({ call: callId })} />
          )}
          {list.hasNextPage ? (
            <Button
              variant="subtle"
              size="xs"
              fullWidth
              loading={list.isFetchingNextPage}
              onClick={() => void list.fetchNextPage()}
            >
              {w.more}
            </Button>
          ) : null}
        </section>
        <section className={css['right']} aria-live="off">
          {call === undefined ? (
            <Empty title={w.choose}>
              {w.chooseHint}
              <br />
              {w.keys}
            </Empty>
          ) : (
            <>
              <Group gap="xs" mb="xs" justify="space-between">
                <Button size="compact-sm" variant="default" className={css['back']} onClick={() => go({ call: undefined })}>
                  ← {w.back}
                </Button>
                <Group gap={6}>
                  <Button size="compact-sm" variant="default" disabled={at <= 0} onClick={() => step(-1)}>
                    {w.previous}
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    disabled={at === -1 || at + 1 >= rows.length}
                    onClick={() => step(1)}
                  >
                    {w.next}
                  </Button>
                </Group>
                <Text size="xs" c="dimmed" visibleFrom="sm">
                  {w.keys}
                </Text>
              </Group>
              <DoneKey key={call} callId={call} then={() => step(1)} />
              <CallPreview callId={call} atMs={chosen?.findings[0]?.atMs ?? 0} />
            </>
          )}
        </section>
      </div>
    </Page>
  );
}

/** Keys of the page, where no control has the focus. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const pressed = useEffectEvent((event: KeyboardEvent) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const isWriting = target instanceof HTMLElement && target.closest('input, textarea, select') !== null;
    if (ctrlKey || metaKey || altKey || isWriting) return;
    keys[key.toLowerCase()]?.();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => pressed(event);
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** E closes the call and goes on to the next. */
function DoneKey({ callId, then }: { readonly callId: string; readonly then: () => void }): ReactNode {
  const may = useMay('calls:review');
  const change = useReviewChange(callId);
  useKeys({
    e: () => {
      if (may && !change.isPending) change.mutate({ state: 'done' }, { onSuccess: then });
    },
  });
  return null;
}

function Count(): ReactNode {
  const w = useWords(inboxWords);
  const format = useFormat();
  const { data } = useOpenCount();
  if (data === undefined) return null;
  return (
    <Text size="sm" c="dimmed" className="figures">
      {data.count === 1 ? w.countOne : say(w.count, { count: `${format.number(data.count)}${data.more ? '+' : ''}` })}
    </Text>
  );
}

function Filters({
  filters,
  onChange,
}: {
  readonly filters: ReviewFilters;
  readonly onChange: (filters: ReviewFilters) => void;
}): ReactNode {
  const w = useWords(inboxWords);
  const reasons = useWords(reasonWords);
  const { user } = useSession();
  return (
    <Group gap="xs" mb="xs">
      <SegmentedControl
        size="xs"
        aria-label={w.state}
        value={filters.state}
        data={[
          { value: 'open', label: w.open },
          { value: 'done', label: w.done },
        ]}
        onChange={(state) => onChange({ ...filters, state: state === 'done' ? 'done' : 'open' })}
      />
      <Select
        size="xs"
        w={170}
        aria-label={w.reason}
        allowDeselect={false}
        value={filters.reason ?? ''}
        data={[{ value: '', label: w.anyReason }, ...Object.entries(reasons).map(([value, label]) => ({ value, label }))]}
        onChange={(reason) => onChange({ ...filters, reason: reason === null || reason === '' ? undefined : reason })}
      />
      <Checkbox
        size="xs"
        label={w.mine}
        checked={filters.assignee === user.name}
        onChange={({ currentTarget }) => onChange({ ...filters, assignee: currentTarget.checked ? user.name : undefined })}
      />
    </Group>
  );
}

function List({
  rows,
  call,
  onChoose,
}: {
  readonly rows: readonly Listed[];
  readonly call: string | undefined;
  readonly onChoose: (callId: string) => void;
}): ReactNode {
  const w = useWords(inboxWords);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (call !== undefined) list.current?.querySelector('[aria-current="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [call]);
  return (
    <ul className={css['list']} aria-label={w.list} ref={list}>
      {rows.map((row) => (
        <li key={row.callId}>
          <button type="button" className={css['row']} aria-current={row.callId === call} onClick={() => onChoose(row.callId)}>
            <Row row={row} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Row({ row }: { readonly row: Listed }): ReactNode {
  const w = useWords(inboxWords);
  const reasons = useWords(reasonWords);
  const { findings, startedAt, bot, from, to, direction, assignee, labels, comments } = row;
  const [first, ...others] = findings;
  const notes = [
    ...(assignee === null ? [] : [`@${assignee}`]),
    ...labels,
    ...(comments === 0 ? [] : [comments === 1 ? w.comments1 : say(w.commentsMany, { count: comments })]),
  ];
  return (
    <>
      <span className={css['why']}>
        <span className={css['reason']} data-reason={first?.reason}>
          {first === undefined ? w.byHand : reasons[first.reason]}
        </span>
        {others.length === 0 ? null : (
          <span
            className={css['faint']}
            title={others.map(({ reason }) => reasons[reason]).join(', ')}
          >{` +${others.length}`}</span>
        )}
        <span className={`${css['moment']} figures`}>{first === undefined ? '' : `▶ ${clockText(first.atMs)}`}</span>
      </span>
      <span className={`${css['faint']} figures`}>
        <Moment at={startedAt} /> · {bot} · {direction === 'inbound' ? from : to}
      </span>
      {notes.length === 0 ? null : <span className={css['faint']}>{notes.join(' · ')}</span>}
    </>
  );
}

function Skeletons(): ReactNode {
  return Array.from({ length: 8 }, (_, at) => <Skeleton key={at} height={48} mb={6} />);
}

function Nothing({ filters: { state, reason, assignee } }: { readonly filters: ReviewFilters }): ReactNode {
  const w = useWords(inboxWords);
  if (reason !== undefined || assignee !== undefined) return <Empty title={w.noMatch}>{w.noMatchHint}</Empty>;
  return <Empty title={state === 'done' ? w.noneDone : w.none}>{w.noneHint}</Empty>;
}
