import 'uplot/dist/uPlot.min.css';
import { SimpleGrid, Text, useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { localeOf, say, useLanguage, useWords } from '../../words.ts';
import classes from './system.module.css';
import { systemWords } from './words.ts';

/** What the gateway was at one moment; null where there was nothing to measure. */
export interface Sample {
  readonly atMs: number;
  readonly calls: number;
  readonly lagMs: number;
  readonly replyMs: number | null;
}

const HEIGHT_PX = 120;

/** Calls, lag and waits for replies while the page is open. */
export function Charts({ samples }: { readonly samples: readonly Sample[] }): ReactNode {
  const w = useWords(systemWords);
  // Another theme has other colours, another language other figures: both are drawn once.
  const look = `${useComputedColorScheme()} ${useLanguage()}`;
  return (
    <SimpleGrid key={look} cols={{ base: 1, md: 3 }}>
      <Chart title={w.callsChart} samples={samples} of={({ calls }) => calls} unit="" />
      <Chart title={w.lagChart} samples={samples} of={({ lagMs }) => lagMs} unit=" ms" />
      <Chart title={w.replyChart} samples={samples} of={({ replyMs }) => replyMs} unit=" ms" />
    </SimpleGrid>
  );
}

function Chart({
  title,
  samples,
  of,
  unit,
}: {
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly of: (sample: Sample) => number | null;
  readonly unit: string;
}): ReactNode {
  const w = useWords(systemWords);
  const language = useLanguage();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const last = samples.map(of).findLast((value) => value !== null);
  const shown =
    last === undefined || last === null ? w.nothingYet : `${Math.round(last).toLocaleString(localeOf(language))}${unit}`;
  useEffect(() => {
    const root = place.current;
    if (root === null) return;
    const color = (name: string): string => getComputedStyle(root).getPropertyValue(name);
    const line = color('--mantine-color-anchor');
    const [text, grid] = [color('--mantine-color-dimmed'), color('--mantine-color-default-border')];
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    const time = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
    const made = new uPlot(
      {
        width: root.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.15)] } },
        axes: [
          { ...axis, values: (_plot, ticks) => ticks.map((s) => time.format(s * 1000)), space: 110 },
          { ...axis, size: 52, values: (_plot, ticks) => ticks.map((value) => `${value}${unit}`), space: 36 },
        ],
        series: [{}, { stroke: line, width: 2, fill: `${line}22`, spanGaps: true, points: { show: false } }],
      },
      [[], []],
      root,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: root.clientWidth, height: HEIGHT_PX }));
    resized.observe(root);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [language, unit]);
  useEffect(() => {
    // One moment has no axis of time.
    if (samples.length > 1) plot.current?.setData([samples.map(({ atMs }) => atMs / 1000), samples.map(of)]);
  }, [samples, of]);
  return (
    <figure className={classes.chart} aria-label={say(w.chartNow, { title, value: shown })}>
      <figcaption className={classes.caption}>
        <span>{title}</span>
        <Text span fw={600} size="sm" className="figures">
          {shown}
        </Text>
      </figcaption>
      <div ref={place} aria-hidden />
    </figure>
  );
}
