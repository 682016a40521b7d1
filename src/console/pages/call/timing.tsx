import { type Call, type CallEvent, type CallTurn, commitOf, drawnAt, lastVoicedMs } from './call-model.ts';
import { Badge, Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Empty } from '../../parts/states.tsx';
import { clockText, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import css from './call.module.css';
import type { Player } from './player.ts';
import { type CallTexts, callWords } from './words.ts';

/**
 * What the caller waited for: the silence that ends a turn, the recogniser's last words, the first answer of the dialog, its first whole
 * sentence, the first audio of that, its sending. `other`: a stage that the record does not tell apart.
 */
const STAGES = ['endpointing', 'recogniser', 'dialog', 'text', 'speech', 'sending', 'other'] as const;
type StageName = (typeof STAGES)[number];

export interface Stage {
  readonly name: StageName;
  readonly ms: number;
  /** Since the wait began. */
  readonly fromMs: number;
}

/** How long the caller waited for one reply. */
interface Waterfall {
  readonly turn: number;
  readonly kind: CallTurn['inputKind'];
  /** Where the wait begins on the drawing. */
  readonly beganMs: number;
  /** From the caller's last voice, or the question to the dialog where they did not speak, to the first audio that was sent. */
  readonly totalMs: number;
  /** Their times add up to `totalMs`. */
  readonly stages: readonly Stage[];
  readonly slowest: StageName | undefined;
  /** From the sending to the hearing: what the carrier had to play before. */
  readonly leadMs: number;
  /** Whether the dialog was asked before the turn was over, and whether that answer was used. */
  readonly early: 'used' | 'dropped' | undefined;
}

/** One for each turn that was answered with sound. */
export function waterfalls(call: Call): Waterfall[] {
  return call.turns.toSorted((a, b) => a.index - b.index).flatMap((turn) => waterfallOf(call, turn) ?? []);
}

function waterfallOf(call: Call, turn: CallTurn): Waterfall | undefined {
  const mine = call.timeline.filter((event) => event['turn'] === turn.index);
  const last = (type: string): CallEvent | undefined => mine.findLast((event) => event.type === type);
  const asked = last('dialog-asked');
  if (asked === undefined) return undefined;
  const early = earlyOf(last('asked-early'), last('early-answer'));
  // An answer that was made early came before the question.
  const answeredFromMs = early === 'used' ? (last('asked-early')?.atMs ?? asked.atMs) : asked.atMs;
  const first = (type: string): CallEvent | undefined =>
    mine.find((event) => event.type === type && event.atMs >= answeredFromMs);
  const firstFrame = first('first-frame');
  if (firstFrame === undefined) return undefined;
  const commit = commitOf(call, turn.index);
  const beganAtMs = (commit && lastVoicedMs(commit, turn)) ?? asked.atMs;
  const stages = stagesBetween(beganAtMs, firstFrame.atMs, [
    ...(commit === undefined
      ? []
      : ([
          ['endpointing', commit.atMs],
          ['recogniser', asked.atMs],
        ] as const)),
    ['dialog', first('dialog-answered')?.atMs],
    ['text', first('tts-asked')?.atMs],
    ['speech', first('tts-first-byte')?.atMs],
    ['sending', firstFrame.atMs],
  ]);
  const measured = settled(stages, turn.latencies.total);
  const { leadMs } = firstFrame;
  return {
    turn: turn.index,
    kind: turn.inputKind,
    beganMs: drawnAt(call, beganAtMs),
    totalMs: tenths(measured.reduce((sum, { ms }) => sum + ms, 0)),
    stages: measured,
    slowest: measured.toSorted((a, b) => b.ms - a.ms).find(({ ms }) => ms > 0)?.name,
    leadMs: typeof leadMs === 'number' ? leadMs : 0,
    early,
  };
}

/** Each stage lasts from the end of the one before; what stages without an end took is `other`. */
function stagesBetween(beganMs: number, endMs: number, ends: readonly (readonly [StageName, number | undefined])[]): Stage[] {
  const stages: Stage[] = [];
  let atMs = beganMs;
  let isGap = false;
  for (const [name, endedMs] of ends) {
    if (endedMs === undefined) {
      isGap = true;
      continue;
    }
    // Work in parallel with an earlier stage added no wait.
    const toMs = Math.min(endMs, Math.max(atMs, endedMs));
    stages.push({ name: isGap ? 'other' : name, ms: tenths(toMs - atMs), fromMs: tenths(atMs - beganMs) });
    atMs = toMs;
    isGap = false;
  }
  return stages;
}

/** The record rounds its total by itself: the difference, less than a millisecond, belongs to the last stage. */
function settled(stages: readonly Stage[], totalMs: number | undefined): Stage[] {
  const sum = stages.reduce((total, { ms }) => total + ms, 0);
  const rest = (totalMs ?? sum) - sum;
  if (Math.abs(rest) >= 1)
    return [...stages, ...(rest > 0 ? [{ name: 'other', ms: tenths(rest), fromMs: tenths(sum) } as const] : [])];
  return stages.map((stage, index) =>
    index === stages.length - 1 ? { ...stage, ms: tenths(Math.max(0, stage.ms + rest)) } : stage,
  );
}

function earlyOf(asked: CallEvent | undefined, answer: CallEvent | undefined): Waterfall['early'] {
  if (asked === undefined) return undefined;
  return answer?.['hit'] === true ? 'used' : 'dropped';
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

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
