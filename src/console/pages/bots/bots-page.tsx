import { Anchor, ScrollArea, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { BotSummaryView } from '../../../http/api/bots/bot-views.ts';
import { Headings, Page, Empty, Failure, Loading } from '../../parts/states.tsx';
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
        <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
          <Table verticalSpacing="sm" miw={640}>
            <Headings names={[w.name, w.kind, w.languages, w.version, w.answers, w.health]} />
            <Table.Tbody>
              {bots.map((bot) => (
                <Table.Tr key={bot.name}>
                  <Table.Td>
                    <Anchor component={Link} href={`/bots/${bot.name}`} fw={600}>
                      {bot.name}
                    </Anchor>
                    {bot.greeting === null ? null : (
                      <Text size="xs" c="dimmed" lineClamp={1} maw={320}>
                        {bot.greeting}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>{bot.kind}</Table.Td>
                  <Table.Td>{bot.languages.join(', ')}</Table.Td>
                  <Table.Td className="figures">{bot.version ?? '–'}</Table.Td>
                  <Table.Td>{answersText(bot, w)}</Table.Td>
                  <Table.Td>
                    <Health bot={bot} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      )}
    </Page>
  );
}

function answersText({ numbers, default: isDefault }: BotSummaryView, w: BotsWords): string {
  const shown = numbers.length > 2 ? say(w.numbers, { count: numbers.length }) : numbers.join(', ');
  const parts = [...(shown === '' ? [] : [shown]), ...(isDefault ? [w.everyNumber] : [])];
  return parts.length === 0 ? w.noNumber : parts.join(', ');
}
