import { Anchor, Group, SegmentedControl, Select, Skeleton, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { StatisticsView } from '../../../http/api/calls/statistics-views.ts';
import { get, query } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Empty, Failure, Page } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { useOpenCount } from '../inbox/queries.ts';
import { Problems } from '../system/problems.tsx';
import { Changes } from './changes.tsx';
import { HoursChart } from './hours-chart.tsx';
import { dayText, periodOf, type Range } from './overview-model.ts';
import css from './overview.module.css';
import { Tiles } from './tiles.tsx';
import { overviewWords } from './words.ts';

const EVERY_MS = 60_000;

/** What the page is about; both are in its address. */
interface Asked {
  readonly range: Range;
  readonly bot: string | undefined;
}

/** Today, or seven days: every figure, its change, and what needs somebody. */
export function OverviewPage(): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const [, navigate] = useLocation();
  const search = new URLSearchParams(useSearch());
  const asked: Asked = { range: search.get('range') === 'week' ? 'week' : 'today', bot: search.get('bot') ?? undefined };
  const { data, error, refetch } = useStatistics(asked);
  const bots = useBotNames(data, asked.bot);
  const go = ({ range, bot }: Asked): void =>
    navigate(`/overview${query({ range: range === 'today' ? undefined : range, bot })}`, { replace: true });
  const against = asked.range === 'today' ? w.againstToday : w.againstWeek;
  const period = data?.period ?? periodOf(asked.range, new Date());
  const days = { from: dayText(period.from), to: dayText(new Date()) };
  const statistics = data?.statistics;
  return (
    <Page
      title={w.title}
      actions={
        <>
          <Select
            size="xs"
            w={150}
            aria-label={w.bot}
            allowDeselect={false}
            value={asked.bot ?? ''}
            data={[{ value: '', label: w.allBots }, ...bots.map((bot) => ({ value: bot, label: bot }))]}
            onChange={(bot) => go({ ...asked, bot: bot === null || bot === '' ? undefined : bot })}
          />
          <SegmentedControl
            size="xs"
            aria-label={w.period}
            value={asked.range}
            data={[
              { value: 'today', label: w.today },
              { value: 'week', label: w.week },
            ]}
            onChange={(range) => go({ ...asked, range: range === 'week' ? 'week' : 'today' })}
          />
        </>
      }
    >
      {error === null ? null : <Failure error={error} retry={() => void refetch()} />}
      <Text size="xs" c="dimmed" mt={-10} mb={8}>
        {against} · {format.zone()}
      </Text>
      <Tiles total={statistics?.total} before={statistics?.before ?? undefined} days={days} bot={asked.bot} />
      <div className={css['columns']}>
        <div className={css['side']}>
          <section className={css['card']} aria-label={w.hourly}>
            <Head title={w.hourly}>
              {data === undefined ? null : (
                <Anchor
                  size="xs"
                  href={`/api${data.path}&format=csv`.replace(/by=[\w,%]+/u, 'by=hour')}
                  title={w.csvHint}
                  download
                >
                  {w.csv}
                </Anchor>
              )}
            </Head>
            {statistics === undefined ? (
              <Skeleton height={174} />
            ) : statistics.total.calls === 0 ? (
              <NoCalls />
            ) : (
              <HoursChart hours={statistics.hours ?? []} fromMs={period.from.getTime()} toMs={period.chartTo.getTime()} />
            )}
          </section>
          <section className={css['card']} aria-label={w.changes}>
            <Head title={w.changes} />
            <Changes changes={statistics?.changes} />
          </section>
        </div>
        <Aside />
      </div>
    </Page>
  );
}

/** The figures of a period, and the address below `/api` that they are from. */
function useStatistics({ range, bot }: Asked) {
  return useQuery({
    queryKey: ['statistics', range, bot],
    queryFn: async ({ signal }) => {
      const period = periodOf(range, new Date());
      const path = `/statistics${query({
        from: period.from.toISOString(),
        to: period.to.toISOString(),
        before: period.before.toISOString(),
        bot,
        by: 'hour,bot,change',
        zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      })}`;
      return { period, path, statistics: await get<StatisticsView>(path, signal) };
    },
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}

/** Names seen so far: the figures of one bot do not have the others. */
function useBotNames(data: ReturnType<typeof useStatistics>['data'], chosen: string | undefined): readonly string[] {
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const { bots, changes } = data?.statistics ?? {};
  const names = [...(bots ?? []), ...(changes ?? [])].map(({ bot }) => bot);
  const added = [...names, ...(chosen === undefined ? [] : [chosen])].filter((name) => !seen.has(name));
  if (added.length > 0) setSeen(new Set([...seen, ...added]));
  return [...seen].toSorted((one, other) => one.localeCompare(other));
}

/** What needs somebody now. */
function Aside(): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const [seesSystem, seesCalls] = [useMay('system:read'), useMay('calls:read')];
  const { data: open } = useOpenCount();
  return (
    <div className={css['side']}>
      {seesSystem ? (
        <section className={css['card']} aria-label={w.wrong}>
          <Head title={w.wrong}>
            <Anchor component={Link} href="/system" size="xs">
              {w.toSystem}
            </Anchor>
          </Head>
          <Problems well={w.well} />
        </section>
      ) : null}
      {seesCalls ? (
        <section className={css['card']} aria-label={w.look}>
          <Head title={w.look} />
          <Group justify="space-between" gap="xs">
            <Text size="sm">
              {open === undefined
                ? ''
                : open.count === 0
                  ? w.lookNone
                  : say(w.lookOpen, { count: `${format.number(open.count)}${open.more ? '+' : ''}` })}
            </Text>
            <Anchor component={Link} href="/inbox" size="sm">
              {w.toInbox}
            </Anchor>
          </Group>
        </section>
      ) : null}
    </div>
  );
}

function Head({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <div className={css['head']}>
      <Title order={2} size="h6">
        {title}
      </Title>
      {children}
    </div>
  );
}

function NoCalls(): ReactNode {
  const w = useWords(overviewWords);
  const mayTalk = useMay('calls:talk');
  return (
    <Empty title={w.none}>
      {w.noneHint}
      {mayTalk ? (
        <>
          {' '}
          <Anchor component={Link} href="/talk" underline="always">
            {w.toTalk}
          </Anchor>
        </>
      ) : null}
    </Empty>
  );
}
