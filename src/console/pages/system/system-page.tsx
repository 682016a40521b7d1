import { Anchor, Button, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, Suspense, useState } from 'react';
import type { z } from 'zod';
import type { systemView } from '../../../http/api/system/system-views.ts';
import { get, post } from '../../api.ts';
import { loaded } from '../../parts/loaded.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Page, Failure, Loading, Moment } from '../../parts/states.tsx';
import { useFormat } from '../../parts/format.ts';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import type { Sample } from './charts.tsx';
import { Problem } from './problems.tsx';
import { replyWait } from './replies.ts';
import classes from './system.module.css';
import { systemWords } from './words.ts';

type System = z.output<typeof systemView>;

const Charts = loaded(() => import('./charts.tsx'), 'Charts');
/** The gateway looks this often at most. */
const EVERY_MS = 2_000;
/** Half an hour. */
const MOST_SAMPLES = 900;
/** Samples over which waits for replies are computed: two seconds have few. */
const REPLY_WINDOW = 15;
const GB = 1024 ** 3;

/** How the gateway is: what is wrong first, then everything it was found by. */
export function SystemPage(): ReactNode {
  const w = useWords(systemWords);
  const format = useFormat();
  const isAdmin = useMay('jobs:write');
  const { data, error, refetch } = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => get<System>('/system', signal),
    refetchInterval: EVERY_MS,
    staleTime: 0,
  });
  const samples = useSamples(data);
  if (data === undefined)
    return (
      <Page title={w.title}>
        {error === null ? <Loading shape="cards" /> : <Failure error={error} retry={() => void refetch()} />}
      </Page>
    );
  const upMs = Date.parse(data.checkedAt) - Date.parse(data.startedAt);
  return (
    <Page
      title={w.title}
      actions={
        <Text size="sm" c="dimmed" className="figures">
          {say(w.version, { version: data.version, up: format.duration(upMs) })}
        </Text>
      }
    >
      <Stack gap="lg">
        {error === null ? null : <Failure error={error} retry={() => void refetch()} />}
        <Verdict system={data} isDead={error !== null} />
        <section aria-label={w.charts} className={classes.charts}>
          <Suspense fallback={<Loading />}>
            <Charts samples={samples} />
          </Suspense>
        </section>
        <Cards system={data} />
        <Queues system={data} isAdmin={isAdmin} />
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          <Processes system={data} />
          <Carriers system={data} />
        </SimpleGrid>
      </Stack>
    </Page>
  );
}

interface Seen {
  readonly checkedAt: string;
  readonly samples: readonly Sample[];
  readonly replies: readonly System['replies'][];
}

/** What was seen since the page was opened. */
function useSamples(system: System | undefined): readonly Sample[] {
  const [seen, setSeen] = useState<Seen>({ checkedAt: '', samples: [], replies: [] });
  if (system !== undefined && system.checkedAt !== seen.checkedAt) {
    const replies = [...seen.replies, system.replies].slice(-REPLY_WINDOW - 1);
    const sample: Sample = {
      atMs: Date.parse(system.checkedAt),
      calls: system.calls.live,
      lagMs: Math.max(0, ...system.processes.map(({ lagMs }) => lagMs)),
      replyMs: replies.length < 2 ? null : replyWait(replies[0], system.replies, 0.5),
    };
    setSeen({ checkedAt: system.checkedAt, samples: [...seen.samples, sample].slice(-MOST_SAMPLES), replies });
  }
  return seen.samples;
}

/** @param isDead the gateway answers no more, and `system` is what it said last */
function Verdict({
  system: { problems, queues, checkedAt },
  isDead,
}: {
  readonly system: System;
  readonly isDead: boolean;
}): ReactNode {
  const w = useWords(systemWords);
  const format = useFormat();
  const count = problems.length;
  const isWell = !isDead && count === 0 && queues.queues.length > 0;
  const sign = isWell ? '✓ ' : '';
  const heading = isDead
    ? w.dead
    : isWell
      ? w.well
      : count === 0
        ? w.noQueues
        : count === 1
          ? w.one
          : say(w.many, { count: format.number(count) });
  return (
    <section className={isWell ? `${classes.problem} ${classes.well}` : undefined}>
      <Title order={2} size="h4" mb="xs" aria-live="polite">
        {sign}
        {heading}
      </Title>
      {isWell || isDead ? (
        <Text size="sm" c="dimmed">
          {isWell ? w.wellHint : w.deadHint} <Moment at={checkedAt} />
        </Text>
      ) : null}
      {count === 0 ? null : (
        <ul className={classes.list}>
          {problems.map((each, at) => (
            // Two problems may have one code and differ in their facts alone.
            <Problem key={`${each.code}-${at}`} problem={each} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Card({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className={classes.card} aria-label={title}>
      <Title order={2} size="h5">
        {title}
      </Title>
      {children}
    </section>
  );
}

function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }): ReactNode {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  );
}

function Cards({ system: { calls, replies, machine, store, outbox, speech } }: { readonly system: System }): ReactNode {
  const w = useWords(systemWords);
  const format = useFormat();
  const figure = (value: number): string => format.number(value, 3);
  const gigabytes = (bytes: number): string => say(w.gb, { count: format.number(bytes / GB, 1) });
  const wait = (share: number): string => {
    const ms = replyWait(undefined, replies, share);
    return ms === null ? w.nothingYet : format.duration(ms);
  };
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
      <Card title={w.calls}>
        <Facts
          facts={[
            [w.live, figure(calls.live)],
            [w.most, figure(calls.most)],
            [w.replyMedian, wait(0.5)],
            [w.replyWorst, wait(0.95)],
          ]}
        />
      </Card>
      <Card title={w.machine}>
        <Facts
          facts={[
            [say(w.load, { cores: machine.cores }), figure(machine.load)],
            [w.memory, say(w.of, { free: gigabytes(machine.memoryFreeBytes), all: gigabytes(machine.memoryBytes) })],
            [w.disk, say(w.of, { free: gigabytes(machine.diskFreeBytes), all: gigabytes(machine.diskBytes) })],
          ]}
        />
      </Card>
      <Card title={w.store}>
        <Facts
          facts={[
            [w.kind, w[store.kind]],
            [w.state, w[store.state]],
            [w.outbox, figure(outbox.calls)],
            [w.recordings, figure(outbox.recordings)],
            [w.rejected, figure(outbox.rejected)],
          ]}
        />
      </Card>
      <Card title={w.speech}>
        <Text size="sm" mt={8}>
          {{ ok: w.speechOk, partly: w.speechPartly, down: w.speechDown }[speech.state]}
        </Text>
        <Stack gap={6} mt={6}>
          {speech.slots.map(({ vendor, service, live, batch, waiting, most }) => (
            <Slots
              key={`${vendor} ${service}`}
              name={say(w[service], { vendor })}
              used={live + batch}
              waiting={waiting}
              most={most}
            />
          ))}
        </Stack>
      </Card>
    </SimpleGrid>
  );
}

function Slots(props: {
  readonly name: string;
  readonly used: number;
  readonly waiting: number;
  readonly most: number;
}): ReactNode {
  const { name, used, waiting, most } = props;
  const w = useWords(systemWords);
  const text = `${say(w.used, { used, most })}${waiting === 0 ? '' : ` · ${say(w.waiting, { count: waiting })}`}`;
  return (
    <div>
      <div className={classes.caption}>
        <span>{name}</span>
        <span className="figures">{text}</span>
      </div>
      <Progress value={most === 0 ? 0 : (100 * used) / most} size="sm" aria-label={`${name}: ${text}`} />
    </div>
  );
}

function Queues({ system: { queues }, isAdmin }: { readonly system: System; readonly isAdmin: boolean }): ReactNode {
  const w = useWords(systemWords);
  const client = useQueryClient();
  const retry = useMutation({
    mutationFn: async (queue: string) => ({ queue, ...(await post<{ readonly retried: number }>(`/jobs/${queue}/retry`)) }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['system'] }),
  });
  return (
    <Card title={w.queues}>
      {queues.queues.length === 0 ? <Text size="sm">{w.noQueues}</Text> : null}
      <PlainTable
        label={w.queues}
        rows={queues.queues}
        keyOf={({ name }) => name}
        columns={[
          { title: w.queue, renderCell: ({ name, purpose }) => <span title={purpose}>{name}</span> },
          { title: w.inLine, renderCell: ({ waiting }) => waiting, atEnd: true },
          { title: w.active, renderCell: ({ active }) => active, atEnd: true },
          { title: w.delayed, renderCell: ({ delayed }) => delayed, atEnd: true },
          { title: w.failed, renderCell: ({ failed }) => (failed > 0 ? <strong>⚠ {failed}</strong> : 0), atEnd: true },
          { title: w.oldest, renderCell: ({ oldestAt }) => (oldestAt === null ? null : <Moment at={oldestAt} />) },
          ...(isAdmin
            ? [
                {
                  title: w.retry,
                  renderCell: ({ name, failed }: System['queues']['queues'][number]) =>
                    failed === 0 ? null : (
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={say(w.retryAll, { queue: name })}
                        loading={retry.isPending && retry.variables === name}
                        onClick={() => retry.mutate(name)}
                      >
                        {w.retry}
                      </Button>
                    ),
                },
              ]
            : []),
        ]}
      />
      <Text component="output" size="sm" display="block">
        {retry.data === undefined ? '' : say(w.retried, { count: retry.data.retried, queue: retry.data.queue })}
      </Text>
      {retry.error === null ? null : <Failure error={retry.error} />}
      {isAdmin ? (
        <Anchor href="/admin/queues" size="sm">
          {w.board}
        </Anchor>
      ) : null}
    </Card>
  );
}

function Processes({ system: { processes } }: { readonly system: System }): ReactNode {
  const w = useWords(systemWords);
  const format = useFormat();
  return (
    <Card title={w.processes}>
      <PlainTable
        label={w.processes}
        rows={processes}
        keyOf={({ name }) => name}
        columns={[
          {
            title: w.process,
            renderCell: ({ name, pid }) => <span title={pid === null ? undefined : `PID ${pid}`}>{name}</span>,
          },
          {
            title: w.state,
            renderCell: ({ state, shedding }) => `${state === 'up' ? '' : '⚠ '}${w[state]}${shedding ? ` · ${w.shedding}` : ''}`,
          },
          { title: w.calls, renderCell: ({ calls }) => calls, atEnd: true },
          { title: w.lag, renderCell: ({ lagMs }) => format.duration(lagMs), atEnd: true },
        ]}
      />
    </Card>
  );
}

function Carriers({ system: { carriers } }: { readonly system: System }): ReactNode {
  const w = useWords(systemWords);
  return (
    <Card title={w.carriers}>
      {carriers.length === 0 ? (
        <Text size="sm" c="dimmed" mt={8}>
          {w.noCarriers}
        </Text>
      ) : (
        <PlainTable
          label={w.carriers}
          rows={carriers}
          keyOf={({ name }) => name}
          columns={[
            { title: w.carrier, renderCell: ({ title }) => title },
            { title: w.configured, renderCell: ({ configured }) => (configured ? w.yes : w.no) },
            { title: w.lastCall, renderCell: ({ lastCallAt }) => (lastCallAt === null ? w.never : <Moment at={lastCallAt} />) },
            {
              title: w.lastRefusal,
              renderCell: ({ lastRefusalAt, lastRefusal }) =>
                lastRefusalAt === null ? (
                  w.never
                ) : (
                  <span>
                    <Moment at={lastRefusalAt} /> {lastRefusal}
                  </span>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}
