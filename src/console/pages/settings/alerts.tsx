import { Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AlertDeliveryView, AlertsView } from '../../../http/api/alerts/alert-routes.ts';
import { get, post } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { alertWords } from './alert-words.ts';
import { Part, State, TestButton } from './parts.tsx';

type Rule = AlertsView['rules'][number];
type Channel = AlertsView['channels'][number];

const KEY = ['settings', 'alerts'];
/** Rules are looked at once a minute. */
const EVERY_MS = 20_000;
const STATE_COLORS = { firing: 'red', quiet: 'offhook', unknown: 'gray', pending: 'yellow', delivered: 'offhook', failed: 'red' };

/** Rules as they stand, the channels that are told, with tests, and what they were told. */
export function Alerts(): ReactNode {
  const w = useWords(alertWords);
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => get<AlertsView>('/alerts', signal),
    refetchInterval: EVERY_MS,
  });
  if (data === undefined)
    return error === null ? <Loading shape="rows" /> : <Failure error={error} retry={() => void refetch()} />;
  const { channels, rules, deliveries } = data;
  if (channels.length === 0) return <Empty title={w.none}>{w.noneHint}</Empty>;
  return (
    <>
      <Text size="sm" c="dimmed" mb="lg" maw={720}>
        {w.intro}
      </Text>
      <Part title={w.rules}>{rules.length === 0 ? <Text size="sm">{w.noRules}</Text> : <Rules rules={rules} />}</Part>
      <Part title={w.channels}>
        <Channels channels={channels} />
      </Part>
      <Part title={w.notices}>
        {deliveries.length === 0 ? <Text size="sm">{w.noNotices}</Text> : <Notices notices={deliveries} />}
      </Part>
    </>
  );
}

function Rules({ rules }: { readonly rules: readonly Rule[] }): ReactNode {
  const w = useWords(alertWords);
  const { duration } = useFormat();
  const valueText = useValueText();
  const thresholdText = ({ figure, above, below }: Rule): string =>
    above === null ? say(w.below, { value: valueText(figure, below ?? 0) }) : say(w.above, { value: valueText(figure, above) });
  /** The day's spending and the problems of now have no window. */
  const windowText = ({ figure, windowMinutes }: Rule): string =>
    figure === 'spend-today' || figure === 'problems' ? '' : `, ${say(w.within, { minutes: duration(windowMinutes * 60_000) })}`;
  return (
    <PlainTable<Rule>
      label={w.rules}
      rows={rules}
      keyOf={({ name }) => name}
      columns={[
        {
          title: w.rule,
          renderCell: ({ name, bot }) => (
            <>
              {name}
              {bot === null ? null : (
                <Text component="span" size="sm" c="dimmed">
                  {' '}
                  · {bot}
                </Text>
              )}
            </>
          ),
        },
        { title: w.when, renderCell: (rule) => `${w[rule.figure]} ${thresholdText(rule)}${windowText(rule)}` },
        { title: w.now, renderCell: ({ figure, value }) => (value === null ? '–' : valueText(figure, value)), atEnd: true },
        {
          title: w.state,
          renderCell: ({ state }) => (
            <State color={STATE_COLORS[state]} {...(state === 'unknown' ? { title: w.unknownHint } : {})}>
              {w[state]}
            </State>
          ),
        },
        { title: w.since, renderCell: ({ since }) => (since === null ? '–' : <Moment at={since} />) },
        { title: w.told, renderCell: ({ toldAt }) => (toldAt === null ? '–' : <Moment at={toldAt} />) },
        { title: w.tells, renderCell: ({ channels }) => channels.join(', ') },
      ]}
    />
  );
}

function Channels({ channels }: { readonly channels: readonly Channel[] }): ReactNode {
  const w = useWords(alertWords);
  const client = useQueryClient();
  const mayTest = useMay('system:control');
  const test = async (channel: string): Promise<{ ok: boolean; text: string }> => {
    const { state, reason } = await post<AlertDeliveryView>('/alerts/test', { channel });
    await client.invalidateQueries({ queryKey: KEY });
    const ok = state === 'delivered';
    return { ok, text: ok ? w.sent : say(w.notSent, { problem: reason ?? '' }) };
  };
  return (
    <PlainTable<Channel>
      label={w.channels}
      rows={channels}
      keyOf={({ name }) => name}
      columns={[
        { title: w.channel, renderCell: ({ name }) => name },
        { title: w.kind, renderCell: ({ kind }) => w[kind] },
        { title: w.to, renderCell: ({ to }) => to },
        ...(mayTest
          ? [
              {
                title: w.test,
                renderCell: ({ name }: Channel) => <TestButton label={w.test} of={name} test={() => test(name)} />,
              },
            ]
          : []),
      ]}
    />
  );
}

function Notices({ notices }: { readonly notices: readonly AlertDeliveryView[] }): ReactNode {
  const w = useWords(alertWords);
  const noticeText = ({ notice, rule }: AlertDeliveryView): string =>
    notice === 'test' ? w.aTest : say(notice === 'firing' ? w.fires : w.over, { rule: rule ?? '' });
  return (
    <PlainTable<AlertDeliveryView>
      label={w.notices}
      rows={notices}
      keyOf={({ id }) => id}
      columns={[
        { title: w.at, renderCell: ({ at }) => <Moment at={at} /> },
        { title: w.notice, renderCell: noticeText },
        { title: w.channel, renderCell: ({ channel }) => channel },
        {
          title: w.state,
          renderCell: ({ state, reason }) => (
            <>
              <State color={STATE_COLORS[state]}>{w[state]}</State>{' '}
              <Text component="span" size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {reason}
              </Text>
            </>
          ),
        },
        { title: w.tries, renderCell: ({ tries }) => tries, atEnd: true },
      ]}
    />
  );
}

/** A figure's value in its unit. */
function useValueText(): (figure: Rule['figure'], value: number) => string {
  const { duration, number } = useFormat();
  return (figure, value) => {
    switch (figure) {
      case 'reply-p50-ms':
      case 'reply-p95-ms':
        return duration(value);
      case 'cut-off-share':
      case 'interrupted-share':
      case 'failed-share':
      case 'not-understood-share':
      case 'given-up-share':
      case 'transferred-share':
        return `${number(value * 100, 1)} %`;
      case 'calls':
      case 'problems':
        return number(value);
      case 'spend-today':
        return number(value, 2);
    }
  };
}
