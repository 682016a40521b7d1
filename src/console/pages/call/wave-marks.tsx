import { Box } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import { clockText } from '../../parts/format.ts';
import { useOrderText } from '../../parts/orders.ts';
import { useWords } from '../../words.ts';
import { holdsOf, type Sign, signsOf } from './call-events.ts';
import type { Call, Span, Utterance } from './call-model.ts';
import css from './call.module.css';
import type { Player } from './player.ts';
import { eventWords, useEventName } from './events-list.tsx';
import { callWords } from './words.ts';

/** The visible part of the drawing, in px. */
export interface View {
  readonly fromPx: number;
  readonly widthPx: number;
  readonly totalPx: number;
}

/** Steps of the ruler, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600];
const STEP_PX = 72;

/** Where something stands in what is seen; undefined where it is outside. */
function placeOf({ fromPx, widthPx, totalPx }: View, durationMs: number, { fromMs, toMs }: Span) {
  const left = (fromMs / durationMs) * totalPx - fromPx;
  const width = ((toMs - fromMs) / durationMs) * totalPx;
  return left + width < -20 || left > widthPx + 20 ? undefined : { left, width };
}

export function Ruler({ view, durationMs }: { readonly view: View; readonly durationMs: number }): ReactNode {
  const pxPerS = (view.totalPx * 1000) / durationMs;
  const step = STEPS.find((each) => each * pxPerS >= STEP_PX) ?? 3_600;
  const first = Math.floor(view.fromPx / pxPerS / step);
  const count = Math.min(60, Math.ceil(view.widthPx / pxPerS / step) + 1);
  const ticks = Array.from({ length: count }, (_, index) => (first + index) * step).filter((s) => s * 1000 <= durationMs);
  return (
    <Box className={css['ruler']} aria-hidden>
      {ticks.map((seconds) => (
        <span key={seconds} className={css['tick']} style={{ left: seconds * pxPerS - view.fromPx }}>
          {clockText(seconds * 1000)}
        </span>
      ))}
    </Box>
  );
}

/** Turns, holds and signs over the waves; the list of events says the same in words. */
export const Marks = memo(function Marks({
  call,
  utterances,
  view,
  durationMs,
  player,
}: {
  readonly call: Call;
  readonly utterances: readonly Utterance[];
  readonly view: View;
  readonly durationMs: number;
  readonly player: Player;
}): ReactNode {
  const w = useWords(callWords);
  const eventName = useEventName();
  const orderText = useOrderText();
  const signText = ({ event: { type, order, by } }: Sign): string =>
    typeof order === 'string' && typeof by === 'string' ? orderText(order, by) : eventName(type);
  return (
    <Box className={css['marks']} aria-hidden>
      {utterances.map(({ side, turn, span }) => {
        const place = span && placeOf(view, durationMs, span);
        return place === undefined ? null : (
          <div key={`${turn}${side}`} className={css['turn']} data-side={side} style={place}>
            <span>{turn}</span>
          </div>
        );
      })}
      {holdsOf(call, durationMs).map((hold) => {
        const place = placeOf(view, durationMs, hold);
        const title = `${clockText(hold.fromMs)} ${w.hold}${hold.ended === undefined ? '' : ` → ${eventName(hold.ended)}`}`;
        return place === undefined ? null : <div key={hold.fromMs} className={css['hold']} style={place} title={title} />;
      })}
      {signsOf(call).map((sign, index) => {
        const place = placeOf(view, durationMs, { fromMs: sign.atMs, toMs: sign.atMs });
        return place === undefined ? null : (
          <button
            // Several may happen at once, in the order of the record.
            key={`${sign.kind}${index}`}
            type="button"
            tabIndex={-1}
            className={css['sign']}
            data-kind={sign.kind}
            style={{ left: place.left }}
            title={`${clockText(sign.atMs)} ${signText(sign)}`}
            onClick={() => player.playFrom(Math.max(0, sign.atMs - 1_000))}
          >
            {GLYPHS[sign.kind]}
          </button>
        );
      })}
    </Box>
  );
});

/** Legend of the symbols. */
export function Legend({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(callWords);
  const events = useWords(eventWords);
  const signs = [
    ['clear', events.clear],
    ['restore', events.restore],
    ['resume', events.resume],
    ['key', events.digit],
    ['played', events['bot-finished']],
    ['transfer', events.transfer],
    ['filler', events.filler],
    ['ordered', events.ordered],
    ['problem', events.problem],
  ] as const;
  const there = new Set(signsOf(call).map(({ kind }) => kind));
  return (
    <Box className={css['legend']} aria-hidden>
      {call.timeline.some(({ type }) => type === 'hold') ? <span>▨ {w.hold}</span> : null}
      {signs
        .filter(([kind]) => there.has(kind))
        .map(([kind, text]) => (
          <span key={kind}>
            {GLYPHS[kind]} {text}
          </span>
        ))}
    </Box>
  );
}

const GLYPHS: Readonly<Record<Sign['kind'], string>> = {
  clear: '✕',
  restore: '↺',
  resume: '▸',
  key: '#',
  played: '·',
  transfer: '↗',
  filler: '…',
  ordered: '!',
  problem: '⚠',
};
