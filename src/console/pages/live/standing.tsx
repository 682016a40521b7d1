import { Badge, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { LiveCallView } from '../../live/watch-client.ts';
import { useNow } from '../../live/live.ts';
import { BAD } from '../../live/trouble.ts';
import { usePersonName } from '../../parts/orders.ts';
import { clockText, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import classes from './live.module.css';
import { phaseWords, standingWords } from './words.ts';

export type Phase = LiveCallView['phase'];

/** Each phase's shape as strokes on a field of 16 by 16, in the order of a call. */
const SHAPES: Readonly<Record<Phase, string>> = {
  dialling: 'M3 8h8M8 5l3 3-3 3M13.5 3v10',
  ringing: 'M5 11V7a3 3 0 0 1 6 0v4M3.5 11.5h9M7 13.5h2M2 5c.3-1 .8-1.8 1.5-2.5M14 5c-.3-1-.8-1.8-1.5-2.5',
  connecting: 'M2.5 8h.1M6 8h.1M9.5 8h.1M13 8h.1',
  listening: 'M5.5 6.5a2.8 2.8 0 1 1 4.5 2.2c-.9.8-.9 1.5-1.2 2.8-.4 1.7-3 1.6-3.1-.6',
  'caller-speaking':
    'M6 8a2.3 2.3 0 1 0 0-4.6A2.3 2.3 0 0 0 6 8ZM2 13.5c.4-2.2 2-3.5 4-3.5s3.6 1.3 4 3.5M11.5 4.5c.9.9.9 2.6 0 3.5M13.3 3c1.7 1.7 1.7 4.8 0 6.5',
  settling: 'M6 8a2.3 2.3 0 1 0 0-4.6A2.3 2.3 0 0 0 6 8ZM2 13.5c.4-2.2 2-3.5 4-3.5s3.6 1.3 4 3.5M12 6v.1M12 9v.1',
  keying: 'M4 3.5h.1M8 3.5h.1M12 3.5h.1M4 8h.1M8 8h.1M12 8h.1M4 12.5h.1M8 12.5h.1M12 12.5h.1',
  thinking: 'M8 2.5a5.5 5.5 0 1 0 5.5 5.5M8 5v3l2 1.5',
  'bot-speaking': 'M2.5 6.5v3M5.2 4.5v7M8 2.5v11M10.8 4.5v7M13.5 6.5v3',
};
export const PHASES = Object.keys(SHAPES) as readonly Phase[];

/** Who has the floor, as a shape and a word. */
export function Floor({ phase, big = false }: { readonly phase: Phase; readonly big?: boolean }): ReactNode {
  const w = useWords(phaseWords);
  return (
    <span className={classes['floor']} data-phase={phase} data-big={big || undefined}>
      <svg viewBox="0 0 16 16" width={big ? 22 : 16} height={big ? 22 : 16} aria-hidden className={classes['shape']}>
        <path d={SHAPES[phase]} />
      </svg>
      {w[phase]}
    </span>
  );
}

interface Trouble {
  readonly short: string;
  /** What it means for the call. */
  readonly long: string;
}

/** What is wrong with a call, in plain words; empty where nothing is. */
export function useTroubles(): (health: LiveCallView['health']) => Trouble[] {
  const w = useWords(standingWords);
  const { duration } = useFormat();
  return ({ holesMs, lateMs, lastReplyMs }) => {
    const troubles: Trouble[] = [];
    const add = (short: string, long: string, ms: number): void => {
      const time = duration(ms);
      troubles.push({ short: say(short, { time }), long: say(long, { time }) });
    };
    if (holesMs >= BAD.holesMs) add(w.holes, w.holesLong, holesMs);
    if (lateMs >= BAD.lateMs) add(w.late, w.lateLong, lateMs);
    if (lastReplyMs !== null && lastReplyMs >= BAD.replyMs) add(w.slow, w.slowLong, lastReplyMs);
    return troubles;
  };
}

/** The last reply's time, and what is wrong. */
export function Health({ health }: { readonly health: LiveCallView['health'] }): ReactNode {
  const w = useWords(standingWords);
  const { duration } = useFormat();
  const troubles = useTroubles()(health);
  const reply = health.lastReplyMs === null ? undefined : duration(health.lastReplyMs);
  const title = [...(reply === undefined ? [] : [say(w.reply, { time: reply })]), ...troubles.map(({ long }) => long)].join('\n');
  return (
    <span className={`${classes['health']} figures`} title={title === '' ? undefined : title}>
      {reply ?? (troubles.length === 0 ? <span className={classes['dim']}>–</span> : null)}
      {troubles.length === 0 ? null : (
        <span className={classes['trouble']}>
          <span aria-hidden>⚠ </span>
          {troubles.map(({ short }) => short).join(', ')}
        </span>
      )}
    </span>
  );
}

/** How long it is since then, ticking. */
export function Age({ since }: { readonly since: string }): ReactNode {
  return <span className="figures">{clockText(useNow() - Date.parse(since))}</span>;
}

/** What is out of the ordinary in a call: muted, taken over, in transfer, between people. */
export function Standing({ call }: { readonly call: LiveCallView }): ReactNode {
  const w = useWords(standingWords);
  const personName = usePersonName();
  const { muted, mutedUntil, mutedBy, takenOver, transfer, mode } = call;
  const holder = takenOver ?? mutedBy;
  if (!muted && takenOver === null && transfer === null && mode === 'bot') return null;
  return (
    <Group gap={4} wrap="nowrap" className={classes['standing']}>
      {holder !== null ? <Mark>{say(w.takenOver, { who: personName(holder) })}</Mark> : null}
      {muted && takenOver === null ? <Mark>{mutedUntil === null ? w.muted : <MutedFor until={mutedUntil} />}</Mark> : null}
      {transfer !== null ? <Mark>{say(w.transfer, { to: transfer.to, state: w[`transfer-${transfer.state}`] })}</Mark> : null}
      {mode === 'listen' ? <Mark>{w.people}</Mark> : null}
    </Group>
  );
}

function MutedFor({ until }: { readonly until: string }): ReactNode {
  const w = useWords(standingWords);
  return say(w.mutedFor, { time: clockText(Date.parse(until) - useNow()) });
}

function Mark({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Badge variant="default" radius="sm" tt="none" fw={500} size="md" className="figures">
      {children}
    </Badge>
  );
}

/** The person's number, calling or called. */
export function personOf({ direction, from, to }: Pick<LiveCallView, 'direction' | 'from' | 'to'>): string {
  return direction === 'inbound' ? from : to;
}
