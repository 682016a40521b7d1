import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { BotSummaryView } from '../../../http/api/bots/bot-views.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Page, Empty, Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { Health, Problems, RefusedReload } from './problems.tsx';
import { useBots } from './queries.ts';
import { type BotsWords, botsWords } from './words.ts';

/** Every bot that new calls get, and how its files stand. */
export function BotsPage(): ReactNode {
  const w = useWords(botsWords);
  const { data, error, refetch } = useBots();
  if (data === undefined)
    return <Page title={w.title}>{error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />}</Page>;
  const { bots, problems, lastReload } = data;
  return (
    <Page title={w.title}>
      <RefusedReload reload={lastReload} />
      <Problems title={w.lostProblems} problems={problems} />
      {bots.length === 0 ? (
        <Empty title={w.none}>{w.noneHint}</Empty>
      ) : (
        <PlainTable
          label={w.title}
          rows={bots}
          keyOf={({ name }) => name}
          columns={[
            { title: w.name, renderCell: (bot) => <Name bot={bot} /> },
            { title: w.kind, renderCell: ({ kind }) => kind },
            { title: w.languages, renderCell: ({ languages }) => languages.join(', ') },
            { title: w.version, renderCell: ({ version }) => version ?? '–' },
            { title: w.answers, renderCell: (bot) => answersText(bot, w) },
            { title: w.health, renderCell: (bot) => <Health bot={bot} /> },
          ]}
        />
      )}
    </Page>
  );
}

function Name({ bot: { name, greeting } }: { readonly bot: BotSummaryView }): ReactNode {
  return (
    <div>
      <Anchor component={Link} href={`/bots/${name}`} fw={600}>
        {name}
      </Anchor>
      {greeting === null ? null : (
        <Text size="xs" c="dimmed" lineClamp={1} maw={320}>
          {greeting}
        </Text>
      )}
    </div>
  );
}

function answersText({ numbers, default: isDefault }: BotSummaryView, w: BotsWords): string {
  const shown = numbers.length > 2 ? say(w.numbers, { count: numbers.length }) : numbers.join(', ');
  const parts = [...(shown === '' ? [] : [shown]), ...(isDefault ? [w.everyNumber] : [])];
  return parts.length === 0 ? w.noNumber : parts.join(', ');
}
