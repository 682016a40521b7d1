import { Badge, Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Empty } from '../../parts/states.tsx';
import { clockText, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import type { Call } from './call-model.ts';
import css from './call.module.css';
import type { Player } from './player.ts';
import { STAGES, type StageName, type Waterfall, waterfalls } from './waterfall.ts';
import { type CallTexts, callWords } from './words.ts';

function stageName(w: CallTexts, name: StageName): string {
  return name === 'other' ? w.otherStage : w[name];
}

/** How long the caller waited for each reply, stage by stage. */
export function Timing({ call, player }: { readonly call: Call; readonly player: Player }): ReactNode {
  const w = useWords(callWords);
  const format = useFormat();
  const falls = waterfalls(call);
  if (falls.length === 0) return <Empty title={w.noTiming}>{w.noTimingHint}</Empty>;
  const longestMs = Math.max(1, ...falls.map(({ totalMs }) => totalMs));
  const used = STAGES.filter((name) => falls.some(({ stages }) => stages.some((stage) => stage.name === name && stage.ms > 0)));
  return (
    <Box>
      <Text size="xs" c="dimmed" mb="xs">
        {w.timingHint}
      </Text>
      <Group gap="sm" mb="xs" aria-hidden>
        {used.map((name) => (
          <Group key={name} gap={5}>
            <span className={css['swatch']} data-stage={name} />
            <Text size="xs">{stageName(w, name)}</Text>
          </Group>
        ))}
      </Group>
      <ol className={css['lines']} aria-label={w.timing}>
        {falls.map((fall) => (
          <li key={fall.turn} className={css['fall']} data-turn={fall.turn}>
            <button
              type="button"
              className={css['time']}
              aria-label={`${w.turn} ${fall.turn}: ${say(w.playFrom, { time: clockText(fall.beganMs) })}`}
              onClick={() => player.playFrom(Math.max(0, fall.beganMs - 1_000))}
            >
              {fall.turn}
            </button>
            <Box>
              <Bar fall={fall} longestMs={longestMs} />
              <Text size="xs" c="dimmed" mt={3}>
                {fall.stages
                  .filter(({ ms }) => ms > 0)
                  .map(({ name, ms }) => `${stageName(w, name)} ${format.duration(ms)}`)
                  .join(' + ')}
                {fall.leadMs > 0 ? ` · ${say(w.leadHint, { time: format.duration(fall.leadMs) })}` : ''}
              </Text>
              <Group gap={6} mt={2}>
                {fall.slowest === undefined ? null : (
                  <Badge size="sm" variant="default" tt="none">
                    {say(w.slowest, { stage: stageName(w, fall.slowest) })}
                  </Badge>
                )}
                {fall.early === undefined ? null : (
                  <Badge size="sm" variant="default" tt="none">
                    {fall.early === 'used' ? w.earlyUsed : w.earlyDropped}
                  </Badge>
                )}
              </Group>
            </Box>
            <Text size="sm" fw={600} ta="right" aria-label={`${w.total} ${format.duration(fall.totalMs)}`}>
              {format.duration(fall.totalMs)}
            </Text>
          </li>
        ))}
      </ol>
    </Box>
  );
}

function Bar({ fall: { stages, totalMs }, longestMs }: { readonly fall: Waterfall; readonly longestMs: number }): ReactNode {
  const w = useWords(callWords);
  const format = useFormat();
  return (
    <Box className={css['bar']} style={{ width: `${Math.max(1, (totalMs / longestMs) * 100)}%` }} aria-hidden>
      {stages
        .filter(({ ms }) => ms > 0)
        .map(({ name, ms, fromMs }) => (
          <span
            key={fromMs}
            data-stage={name}
            title={`${stageName(w, name)} ${format.duration(ms)}`}
            style={{ flexGrow: ms, flexBasis: 0 }}
          />
        ))}
    </Box>
  );
}
