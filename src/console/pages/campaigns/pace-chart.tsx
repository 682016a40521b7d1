import 'uplot/dist/uPlot.min.css';
import { Box, Text, useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { localeOf, say, useLanguage, useWords } from '../../words.ts';
import { numberText } from './parts.tsx';
import type { Progress } from './queries.ts';
import { campaignWords } from './words.ts';

const HEIGHT = 200;

/** Calls a minute that were placed, and answered, against the pace that is set. */
export function PaceChart({
  pace,
  callsPerSecond,
}: {
  readonly pace: Progress['pace'];
  readonly callsPerSecond: number;
}): ReactNode {
  const w = useWords(campaignWords);
  const language = useLanguage();
  const scheme = useComputedColorScheme('light');
  const ref = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const data = useRef<uPlot.AlignedData>([[]]);
  useEffect(() => {
    const perMinute = 60 / pace.everySeconds;
    const fromS = Date.parse(pace.from) / 1000;
    const times = pace.placed.map((_, index) => fromS + index * pace.everySeconds);
    data.current = [
      times,
      pace.placed.map((count) => count * perMinute),
      pace.answered.map((count) => count * perMinute),
      times.map(() => callsPerSecond * 60),
    ];
    chart.current?.setData(data.current);
  }, [pace, callsPerSecond]);
  useEffect(() => {
    const place = ref.current;
    if (place === null) return undefined;
    const style = getComputedStyle(place);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const text = colour('--mantine-color-dimmed');
    const axis = { stroke: text, grid: { stroke: colour('--mantine-color-default-border'), width: 1 }, ticks: { show: false } };
    const steps = uPlot.paths.stepped?.({ align: 1 });
    const line = { points: { show: false }, ...(steps === undefined ? {} : { paths: steps }) };
    const made = new uPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        axes: [
          {
            ...axis,
            values: (_, marks) =>
              marks.map((at) =>
                new Date(at * 1000).toLocaleTimeString(localeOf(language), { hour: '2-digit', minute: '2-digit' }),
              ),
          },
          { ...axis, size: 48 },
        ],
        scales: { y: { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.1)] } },
        series: [
          {},
          { label: w.placed, stroke: colour('--mantine-color-anchor'), width: 2, ...line },
          { label: w.answered, stroke: colour('--mantine-color-orange-6'), width: 2, ...line },
          { label: w.setPace, stroke: text, dash: [6, 4], width: 1, points: { show: false } },
        ],
        legend: { live: false },
      },
      data.current,
      place,
    );
    chart.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height: HEIGHT }));
    resized.observe(place);
    return () => {
      resized.disconnect();
      chart.current = undefined;
      made.destroy();
    };
    // The scheme has other colours, which the style above gives.
    // oxlint-disable-next-line react/exhaustive-deps, react/exhaustive-effect-dependencies -- see above
  }, [scheme, language, w]);
  const total = pace.placed.reduce((sum, count) => sum + count, 0);
  return (
    <Box>
      <Text fz="xs" c="dimmed" mb={4}>
        {w.perMinute}
      </Text>
      <Box
        ref={ref}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a canvas and its legend are one picture
        role="img"
        aria-label={say(w.paceLabel, { total: numberText(total, language), set: numberText(callsPerSecond * 60, language) })}
        mih={HEIGHT + 30}
      />
    </Box>
  );
}
