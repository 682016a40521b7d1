import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { FiguresView } from '../../../http/api/calls/statistics-views.ts';
import { type Format, useFormat } from '../../parts/format.ts';
import { localeOf, say, useLanguage, useWords } from '../../words.ts';
import { type Change, changeOf, linkOf, type Tile, type TileName, tileOf, TILES } from './overview-model.ts';
import css from './overview.module.css';
import { overviewWords } from './words.ts';

type Texts = Readonly<Record<keyof (typeof overviewWords)['en'], string>>;

interface TilesProps {
  /** Undefined while it loads. */
  readonly total: FiguresView | undefined;
  readonly before: FiguresView | undefined;
  readonly days: { readonly from: string; readonly to: string };
  readonly bot: string | undefined;
}

/** Every figure of the period, with its change; each leads to its calls. */
export function Tiles({ total, before, days, bot }: TilesProps): ReactNode {
  const w = useWords(overviewWords);
  return (
    <ul className={css['tiles']} aria-label={w.figures}>
      {TILES.map((name) => (
        <li key={name}>
          <Link href={linkOf(name, days, bot)} className={css['tile']} title={w[`${name}Hint`]}>
            <span className={css['name']}>{w[name]}</span>
            {total === undefined ? (
              <Skeleton height={26} width="60%" my={3} />
            ) : (
              <Value tile={tileOf(name, total)} change={changeOf(tileOf(name, total), before && tileOf(name, before))} />
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Value({ tile, change }: { readonly tile: Tile | undefined; readonly change: Change | undefined }): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const locale = localeOf(useLanguage());
  return (
    <>
      <span className={css['value']}>{tile === undefined ? '–' : valueText(tile, format, locale)}</span>
      <span className={css['note']}>
        {change === undefined ? null : <Delta change={change} />}
        <span>{tile === undefined ? '' : noteText(tile, w, format, locale)}</span>
      </span>
    </>
  );
}

export function Delta({ change }: { readonly change: Change }): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const text = changeText(change, w, format);
  const says = change.verdict === 'neither' ? undefined : w[change.verdict];
  return (
    <span className={`${css['delta']} ${css[change.verdict]}`} title={says}>
      <span aria-hidden>{change.by === 0 ? '' : change.by > 0 ? '▲ ' : '▼ '}</span>
      {text}
      {says === undefined || change.by === 0 ? null : <span className={css['said']}> {says}</span>}
    </span>
  );
}

export function valueText({ kind, count, whole, currency }: Tile, format: Format, locale: string): string {
  switch (kind) {
    case 'count':
      return format.number(count);
    case 'share':
      return whole === 0 ? '–' : format.share(count, whole);
    case 'wait':
      return format.duration(count);
    case 'money':
      return money(count, currency, locale);
  }
}

function noteText({ kind, count, whole, currency }: Tile, w: Texts, format: Format, locale: string): string {
  if (kind === 'share') return whole === 0 ? '' : `${format.number(count)} ${say(w.ofCalls, { count: format.number(whole) })}`;
  return kind === 'money' && whole > 0 ? say(w.each, { cost: money(count / whole, currency, locale) }) : '';
}

function money(amount: number, currency: string, locale: string): string {
  const digits = amount !== 0 && amount < 1 ? { maximumFractionDigits: 4 } : {};
  return amount.toLocaleString(locale, { style: 'currency', currency, ...digits });
}

function changeText({ by, unit }: Change, w: Texts, format: Format): string {
  if (by === 0) return w.same;
  const size = Math.abs(by);
  if (unit === 'ms') return format.duration(size);
  return unit === 'percent' ? `${format.number(size)} %` : say(w.points, { by: format.number(size, 1) });
}

/** Figures that a version can change. */
export const COMPARED: readonly TileName[] = [
  'calls',
  'contained',
  'transferred',
  'givenUp',
  'median',
  'slowest',
  'cutOffs',
  'notUnderstood',
];
