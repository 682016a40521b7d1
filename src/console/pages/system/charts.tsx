import { SimpleGrid, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { useFormat } from '../../parts/format.ts';
import { Plot, type PlotLine } from '../../parts/plot.tsx';
import { say, useWords } from '../../words.ts';
import classes from './system.module.css';
import { systemWords } from './words.ts';

/** What the gateway was at one moment; null where there was nothing to measure. */
export interface Sample {
  readonly atMs: number;
  readonly calls: number;
  readonly lagMs: number;
  readonly replyMs: number | null;
}

/** Calls, lag and waits for replies while the page is open. */
export function Charts({ samples }: { readonly samples: readonly Sample[] }): ReactNode {
  const w = useWords(systemWords);
  const { duration, number } = useFormat();
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }}>
      <Chart title={w.callsChart} samples={samples} of="calls" text={number} />
      <Chart title={w.lagChart} samples={samples} of="lagMs" text={duration} />
      <Chart title={w.replyChart} samples={samples} of="replyMs" text={duration} />
    </SimpleGrid>
  );
}

function Chart({
  title,
  samples,
  of,
  text,
}: {
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly of: 'calls' | 'lagMs' | 'replyMs';
  readonly text: (value: number) => string;
}): ReactNode {
  const w = useWords(systemWords);
  const lines = useMemo((): readonly PlotLine[] => [{ name: title, look: 'first' }], [title]);
  const timesMs = useMemo(() => samples.map(({ atMs }) => atMs), [samples]);
  const values = useMemo(() => [samples.map((sample) => sample[of])], [samples, of]);
  const last = values[0]?.findLast((value) => value !== null) ?? undefined;
  const shown = last === undefined ? w.nothingYet : text(last);
  return (
    <figure className={classes.chart} aria-label={say(w.chartNow, { title, value: shown })}>
      <figcaption className={classes.caption}>
        <span>{title}</span>
        <Text span fw={600} size="sm" className="figures">
          {shown}
        </Text>
      </figcaption>
      <Plot heightPx={120} timesMs={timesMs} values={values} lines={lines} valueText={text} />
    </figure>
  );
}
