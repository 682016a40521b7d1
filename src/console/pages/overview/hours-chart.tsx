import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FiguresView } from '../../../http/api/calls/statistics-views.ts';
import { useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import css from './overview.module.css';
import { overviewWords } from './words.ts';

interface Hour extends FiguresView {
  readonly from: string;
}

/** What became of the calls of an hour, from the axis up. */
const PARTS = ['contained', 'transferred', 'givenUp', 'other'] as const;
type Part = (typeof PARTS)[number];

function partOf(part: Part, { calls, contained, transferred, givenUp }: FiguresView): number {
  if (part === 'other') return calls - contained - transferred - givenUp;
  return { contained, transferred, givenUp }[part];
}

const [WIDTH, HEIGHT] = [1_000, 120];
const HOUR_MS = 3_600_000;

/** A bar an hour, its parts what became of the calls. Hours to come are empty. */
export function HoursChart({
  hours,
  fromMs,
  toMs,
}: {
  readonly hours: readonly Hour[];
  readonly fromMs: number;
  readonly toMs: number;
}): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const most = Math.max(1, ...hours.map(({ calls }) => calls));
  const stepPx = WIDTH / ((toMs - fromMs) / HOUR_MS);
  const xOf = (atMs: number): number => ((atMs - fromMs) / HOUR_MS) * stepPx;
  const busiest = hours.toSorted((one, other) => other.calls - one.calls)[0];
  const count = hours.reduce((sum, { calls }) => sum + calls, 0);
  const text = say(w.hourlyText, {
    count: format.number(count),
    most: format.number(busiest?.calls ?? 0),
    at: busiest === undefined ? '' : format.time(busiest.from),
  });
  return (
    <div>
      <div className={css['plot']}>
        <span className={css['most']} aria-hidden>
          {format.number(most)}
        </span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" className={css['bars']} role="img" aria-label={text}>
          <line x1={0} x2={WIDTH} y1={0.5} y2={0.5} className={css['grid']} />
          <line x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} className={css['grid']} />
          {hours.map((hour) => (
            <Bar key={hour.from} hour={hour} x={xOf(Date.parse(hour.from))} width={stepPx} most={most} />
          ))}
          <line x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className={css['axis']} />
        </svg>
      </div>
      <Axis fromMs={fromMs} toMs={toMs} />
      <Group gap="md" mt={6}>
        {PARTS.map((part) => (
          <Text key={part} size="xs" c="dimmed">
            <span className={`${css['swatch']} ${css[part]}`} aria-hidden />
            {w[part]}
          </Text>
        ))}
      </Group>
    </div>
  );
}

function Bar({
  hour,
  x,
  width,
  most,
}: {
  readonly hour: Hour;
  readonly x: number;
  readonly width: number;
  readonly most: number;
}): ReactNode {
  const w = useWords(overviewWords);
  const format = useFormat();
  const gap = Math.min(2, width / 6);
  const named = PARTS.map((part) => ({ part, calls: partOf(part, hour) })).filter(({ calls }) => calls > 0);
  const heightOf = (calls: number): number => (calls / most) * (HEIGHT - 4);
  return (
    <g>
      <title>
        {`${format.time(hour.from)} · ${w.calls} ${format.number(hour.calls)}${named.map(({ part, calls }) => ` · ${w[part]} ${format.number(calls)}`).join('')}`}
      </title>
      <rect x={x} y={0} width={width} height={HEIGHT} className={css['hit']} />
      {named.map(({ part, calls }, at) => {
        const below = named.slice(0, at + 1).reduce((sum, each) => sum + heightOf(each.calls), 0);
        return (
          <rect
            key={part}
            x={x + gap}
            y={HEIGHT - below}
            width={width - 2 * gap}
            height={heightOf(calls)}
            className={css[part]}
          />
        );
      })}
    </g>
  );
}

/** Hours of one day, days of several. */
function Axis({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): ReactNode {
  const format = useFormat();
  const isDay = toMs - fromMs < 2 * 24 * HOUR_MS;
  const stepMs = isDay ? 4 * HOUR_MS : 24 * HOUR_MS;
  const ticks = Array.from({ length: Math.round((toMs - fromMs) / stepMs) }, (_, at) => fromMs + at * stepMs);
  return (
    <div className={css['ticks']} aria-hidden>
      {ticks.map((atMs) => (
        <span key={atMs} style={{ left: `${(100 * (atMs - fromMs)) / (toMs - fromMs)}%` }}>
          {/* The middle of a day is on that day wherever clocks are changed. */}
          {isDay ? format.axisTime(atMs, false) : format.day(new Date(atMs + 12 * HOUR_MS).toLocaleDateString('sv'))}
        </span>
      ))}
    </div>
  );
}
