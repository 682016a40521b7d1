import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { useLanguage } from '../words.ts';
import { useFormat } from './format.ts';

export interface PlotLine {
  readonly name: string;
  /** `limit` is a thin dashed line that the others are held against. */
  readonly look: 'first' | 'second' | 'limit';
}

export interface PlotProps {
  readonly heightPx: number;
  /** When each value was, in ms since 1970, oldest first. */
  readonly timesMs: readonly number[];
  /** Values of each line at those times; null where there was none. */
  readonly values: readonly (readonly (number | null)[])[];
  /** The same array for as long as the language is. */
  readonly lines: readonly PlotLine[];
  /** How a value is written beside its axis. */
  readonly valueText: (value: number) => string;
  /** Each value holds until the next one. */
  readonly stepped?: boolean;
}

const COLOURS = {
  first: '--mantine-color-anchor',
  second: '--mantine-color-orange-6',
  limit: '--mantine-color-dimmed',
} as const;

/** Labels of an axis without those that say the same as the one before: two that are rounded alike would be a lie. */
function once(labels: readonly string[]): string[] {
  return labels.map((label, at) => (label === labels[at - 1] ? '' : label));
}

/** Lines over time, in the colours of the theme. One line is filled below; more have a legend. */
export function Plot(props: PlotProps): ReactNode {
  // Colours and texts are read when the plot is drawn.
  return <Drawn key={`${useComputedColorScheme('light')} ${useLanguage()}`} {...props} />;
}

function Drawn({ heightPx, timesMs, values, lines, valueText, stepped = false }: PlotProps): ReactNode {
  const format = useFormat();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  useEffect(() => {
    const root = place.current;
    if (root === null) return;
    const style = getComputedStyle(root);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const grid = { stroke: colour('--mantine-color-default-border'), width: 1 };
    const axis = { stroke: colour('--mantine-color-dimmed'), grid, ticks: { show: false }, font: '11px system-ui' };
    const paths = stepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
    const isAlone = lines.length === 1;
    const made = new uPlot(
      {
        width: root.clientWidth,
        height: heightPx,
        legend: { show: !isAlone, live: false },
        cursor: { show: !isAlone },
        scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.15 : 1] } },
        axes: [
          {
            ...axis,
            space: 110,
            values: (_plot, ticks, _axis, _space, stepS) => once(ticks.map((atS) => format.axisTime(atS * 1000, stepS < 60))),
          },
          { ...axis, size: 60, space: 36, values: (_plot, ticks) => once(ticks.map(valueText)) },
        ],
        series: [
          {},
          ...lines.map(({ name, look }) => ({
            label: name,
            stroke: colour(COLOURS[look]),
            points: { show: false },
            spanGaps: true,
            ...(look === 'limit' ? { width: 1, dash: [6, 4] } : { width: 2, ...(paths === undefined ? {} : { paths }) }),
            ...(isAlone ? { fill: `${colour(COLOURS[look])}22` } : {}),
          })),
        ],
      },
      [[], ...lines.map(() => [])],
      root,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: root.clientWidth, height: heightPx }));
    resized.observe(root);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [format, heightPx, lines, valueText, stepped]);
  useEffect(() => {
    // One moment has no axis of time.
    if (timesMs.length > 1) plot.current?.setData([timesMs.map((ms) => ms / 1000), ...values.map((line) => [...line])]);
  }, [timesMs, values]);
  return <div ref={place} aria-hidden />;
}
