import { Box, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { useFormat } from '../../parts/format.ts';
import { Plot, type PlotLine } from '../../parts/plot.tsx';
import { say, useWords } from '../../words.ts';
import type { Progress } from './queries.ts';
import { campaignWords } from './words.ts';

const HEIGHT_PX = 200;

/** Calls a minute that were placed, and answered, against the pace that is set. */
export function PaceChart({
  pace,
  callsPerSecond,
}: {
  readonly pace: Progress['pace'];
  readonly callsPerSecond: number;
}): ReactNode {
  const w = useWords(campaignWords);
  const { number } = useFormat();
  const lines = useMemo(
    (): readonly PlotLine[] => [
      { name: w.placed, look: 'first' },
      { name: w.answered, look: 'second' },
      { name: w.setPace, look: 'limit' },
    ],
    [w],
  );
  const { timesMs, values } = useMemo(() => {
    const perMinute = (count: number): number => (count * 60) / pace.everySeconds;
    return {
      timesMs: pace.placed.map((_, index) => Date.parse(pace.from) + index * pace.everySeconds * 1000),
      values: [pace.placed.map(perMinute), pace.answered.map(perMinute), pace.placed.map(() => callsPerSecond * 60)],
    };
  }, [pace, callsPerSecond]);
  const total = pace.placed.reduce((sum, count) => sum + count, 0);
  return (
    <Box>
      <Text fz="xs" c="dimmed" mb={4}>
        {w.perMinute}
      </Text>
      <Box
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a canvas and its legend are one picture
        role="img"
        aria-label={say(w.paceLabel, { total: number(total), set: number(callsPerSecond * 60) })}
        mih={HEIGHT_PX + 30}
      >
        <Plot heightPx={HEIGHT_PX} timesMs={timesMs} values={values} lines={lines} valueText={number} stepped />
      </Box>
    </Box>
  );
}
