import { Anchor, Skeleton, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { StatisticsView, VersionFigures } from '../../../http/api/calls/statistics-views.ts';
import { useFormat } from '../../parts/format.ts';
import { localeOf, say, useLanguage, useWords } from '../../words.ts';
import { changeOf, type TileName, tileOf } from './overview-model.ts';
import css from './overview.module.css';
import { COMPARED, Delta, valueText } from './tiles.tsx';
import { overviewWords } from './words.ts';

/** Bots that are compared at once; the rest is on their own pages. */
const MOST_BOTS = 3;
const FEW = 30;

/** The newest version of each bot beside the one before. */
export function Changes({ changes }: { readonly changes: StatisticsView['changes'] | undefined }): ReactNode {
  const w = useWords(overviewWords);
  if (changes === undefined || changes === null) return <Skeleton height={180} />;
  if (changes.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {w.changesNone}
      </Text>
    );
  return changes.slice(0, MOST_BOTS).map((change) => <Comparison key={change.bot} change={change} />);
}

function Comparison({
  change: { bot, newest, previous },
}: {
  readonly change: NonNullable<StatisticsView['changes']>[number];
}): ReactNode {
  const w = useWords(overviewWords);
  const isEarly = newest.calls < FEW || previous.calls < FEW;
  return (
    <div className={css['comparison']}>
      <Table verticalSpacing={4} className="figures" aria-label={`${bot}: ${w.changes}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <Anchor component={Link} href={`/bots/${encodeURIComponent(bot)}`} fz="sm">
                {bot}
              </Anchor>
            </Table.Th>
            <Version name={w.previous} of={previous} />
            <Version name={w.newest} of={newest} />
            <Table.Th className={css['end']}>{w.change}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {COMPARED.map((name) => (
            <Row key={name} name={name} newest={newest} previous={previous} />
          ))}
        </Table.Tbody>
      </Table>
      {isEarly ? (
        <Text size="xs" c="dimmed" mt={4}>
          {w.few}
        </Text>
      ) : null}
    </div>
  );
}

function Version({ name, of: { bot, version, firstAt } }: { readonly name: string; readonly of: VersionFigures }): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const search = new URLSearchParams({ bot, version: version ?? '' });
  return (
    <Table.Th className={css['end']}>
      {name}
      <Link href={`/calls?${search}`} className={css['version']} title={version ?? undefined}>
        {say(w.since, { at: format.listedTime(firstAt) })}
      </Link>
    </Table.Th>
  );
}

function Row({
  name,
  newest,
  previous,
}: {
  readonly name: TileName;
  readonly newest: VersionFigures;
  readonly previous: VersionFigures;
}): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const locale = localeOf(useLanguage());
  const [now, before] = [tileOf(name, newest), tileOf(name, previous)];
  // Versions that served for different times have no number of calls to compare.
  const change = name === 'calls' ? undefined : changeOf(now, before);
  return (
    <Table.Tr>
      <Table.Td title={w[`${name}Hint`]}>{w[name]}</Table.Td>
      {[before, now].map((tile, at) => (
        <Table.Td key={at} className={css['end']}>
          {tile === undefined ? '–' : valueText(tile, format, locale)}
        </Table.Td>
      ))}
      <Table.Td className={css['end']}>{change === undefined ? '' : <Delta change={change} />}</Table.Td>
    </Table.Tr>
  );
}
