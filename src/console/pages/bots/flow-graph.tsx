import { Button, Group, Text } from '@mantine/core';
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { FlowGraphView } from '../../../http/api/bots/bot-views.ts';
import { say, useWords } from '../../words.ts';
import classes from './bots.module.css';
import type { Traffic } from './queries.ts';
import { layOut, type Point } from './layout.ts';
import { botsWords } from './words.ts';

const BOX = { width: 172, height: 58 };
/** Room beside each box for the calls that ended there. */
const EXIT = 84;
const [LEAST_ZOOM, MOST_ZOOM] = [0.3, 2];
/** Names are 13 px high at 1: smaller than 12 px nobody reads them. */
const LEAST_READABLE = 0.93;

interface FlowGraphProps {
  readonly bot: string;
  readonly graph: FlowGraphView;
  readonly traffic: Traffic;
  readonly chosen: string | undefined;
  /** Current step of a chat. */
  readonly current: string | undefined;
  readonly walked: ReadonlySet<string>;
  readonly choose: (step: string) => void;
}

/** A flow as a graph: ways as wide as calls took them, with the calls that ended beside each step. */
export function FlowGraph({ bot, graph, traffic, chosen, current, walked, choose }: FlowGraphProps): ReactNode {
  const w = useWords(botsWords);
  const scroller = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const [dragged, setDragged] = useState<Point | undefined>();
  const ids = useMemo(() => [graph.start, ...graph.steps.map(({ id }) => id).filter((id) => id !== graph.start)], [graph]);
  const ways = useMemo(() => waysOf(graph, traffic), [graph, traffic]);
  const drawn = useMemo(() => layOut(ids, ways, { width: BOX.width + EXIT, height: BOX.height }), [ids, ways]);
  const most = Math.max(1, ...ways.map(({ times }) => times));
  const byId = useMemo(() => new Map(graph.steps.map((step) => [step.id, step])), [graph]);
  const zoomTo = (to: number): void => setZoom(Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, to)));
  const fit = (): void => zoomTo(((scroller.current?.clientWidth ?? drawn.width) - 4) / drawn.width);
  useEffect(() => {
    const width = scroller.current?.clientWidth ?? 0;
    if (width > 0) setZoom(Math.min(1, Math.max(LEAST_READABLE, (width - 4) / drawn.width)));
  }, [drawn.width]);
  useEffect(() => {
    const box = current === undefined ? undefined : drawn.boxes.get(current);
    const view = scroller.current;
    if (box === undefined || view === null) return;
    view.scrollTo({ left: box.x * zoom - view.clientWidth / 3, top: box.y * zoom - view.clientHeight / 3 });
  }, [current, drawn, zoom]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === '+' || event.key === '=') zoomTo(zoom * 1.2);
    else if (event.key === '-') zoomTo(zoom / 1.2);
    else if (event.key === '0') fit();
  };
  const onPointerMove = ({ clientX, clientY }: PointerEvent): void => {
    if (dragged === undefined || scroller.current === null) return;
    scroller.current.scrollBy(dragged.x - clientX, dragged.y - clientY);
    setDragged({ x: clientX, y: clientY });
  };
  return (
    <>
      <Group gap="xs" mb="xs">
        <Button.Group>
          <Button size="xs" variant="default" aria-label={w.zoomOut} onClick={() => zoomTo(zoom / 1.2)}>
            −
          </Button>
          <Button size="xs" variant="default" aria-label={w.zoomIn} onClick={() => zoomTo(zoom * 1.2)}>
            +
          </Button>
          <Button size="xs" variant="default" onClick={fit}>
            {w.zoomFit}
          </Button>
        </Button.Group>
        <Text size="xs" c="dimmed">
          {w.graphHint}
        </Text>
      </Group>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it is moved and zoomed; what can be chosen is inside */}
      <div
        ref={scroller}
        className={classes['scroller']}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- no set of fields
        role="group"
        aria-label={say(w.graphOf, { bot })}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls and zooms by keyboard
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={({ clientX, clientY }) => setDragged({ x: clientX, y: clientY })}
        onPointerMove={onPointerMove}
        onPointerUp={() => setDragged(undefined)}
        onPointerLeave={() => setDragged(undefined)}
      >
        <svg width={drawn.width * zoom} height={drawn.height * zoom} viewBox={`0 0 ${drawn.width} ${drawn.height}`}>
          <defs>
            <marker
              id="flow-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" fill="var(--mantine-color-dimmed)" />
            </marker>
          </defs>
          {drawn.ways.map(({ from, to, isBack, points }) => {
            const way = ways.find((each) => each.from === from && each.to === to);
            const times = way?.times ?? 0;
            const shifted = isBack ? points : atBoxes(points);
            const style = [classes['way'], times > 0 ? classes['busy'] : '', way?.isKnown === false ? classes['aside'] : ''];
            return (
              <path
                key={`${from}>${to}`}
                className={style.join(' ')}
                d={isBack ? straight(shifted) : curved(shifted)}
                strokeWidth={1.2 + 6 * Math.sqrt(times / most) * (times > 0 ? 1 : 0)}
                markerEnd="url(#flow-arrow)"
                aria-hidden
              />
            );
          })}
          {drawn.ways.map(({ from, to, isBack, points }) => {
            const times = ways.find((each) => each.from === from && each.to === to)?.times ?? 0;
            const [one, other] = isBack ? [points[1], points[2]] : atBoxes(points);
            if (times === 0 || one === undefined || other === undefined) return null;
            return (
              <text
                key={`${from}>${to}`}
                className={`${classes['count']} ${classes['halo']}`}
                x={(one.x + other.x) / 2 + 6}
                y={(one.y + other.y) / 2 + 4}
                aria-hidden
              >
                {times}
              </text>
            );
          })}
          {[...drawn.boxes].map(([id, at]) => {
            const step = byId.get(id);
            if (step === undefined) return null;
            const { calls, lost } = traffic.of(id);
            const style = [
              classes['node'],
              id === chosen ? classes['chosen'] : '',
              walked.has(id) ? classes['walked'] : '',
              id === current ? classes['current'] : '',
            ];
            const detail = step.slots.length > 0 ? step.slots.join(', ') : (step.target ?? '');
            const said = [
              `${id}: ${w[step.kind]} ${detail}`,
              say(w.callsCounted, { count: calls }),
              lost > 0 ? say(w.lost, { count: lost }) : '',
              id === current ? w.startHere : '',
            ];
            return (
              <g key={id} className={style.join(' ')} transform={`translate(${at.x} ${at.y})`}>
                <rect
                  className={classes['box']}
                  width={BOX.width}
                  height={BOX.height}
                  rx={6}
                  // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a drawing has no button of its own
                  role="button"
                  tabIndex={0}
                  aria-label={said.filter((each) => each !== '').join(', ')}
                  aria-pressed={id === chosen}
                  aria-current={id === current ? 'step' : undefined}
                  onClick={() => choose(id)}
                  onKeyDown={(event) => {
                    if (event.key !== 'Enter' && event.key !== ' ') return;
                    event.preventDefault();
                    choose(id);
                  }}
                />
                <text className={classes['name']} x={10} y={22}>
                  {shortened(id, 21)}
                </text>
                <text className={classes['detail']} x={10} y={42}>
                  {shortened(`${w[step.kind]} ${detail}`, 19)}
                </text>
                {calls > 0 ? (
                  <text className={classes['count']} x={BOX.width - 10} y={42} textAnchor="end">
                    {calls}
                  </text>
                ) : null}
                {lost > 0 ? (
                  <>
                    <path className={classes['exit']} d={`M${BOX.width} ${BOX.height / 2}h14`} markerEnd="url(#flow-arrow)" />
                    <text className={classes['lost']} x={BOX.width + 18} y={BOX.height / 2 + 4}>
                      {say(w.lost, { count: lost })}
                    </text>
                  </>
                ) : null}
              </g>
            );
          })}
        </svg>
      </div>
    </>
  );
}

interface Way {
  readonly from: string;
  readonly to: string;
  readonly times: number;
  /** Whether the flow itself has it; calls also go by commands, and give up. */
  readonly isKnown: boolean;
}

function waysOf({ edges, steps }: FlowGraphView, { hops }: Traffic): Way[] {
  const known = edges.map(({ from, to }) => ({ from, to, times: hops.get(`${from}>${to}`)?.times ?? 0, isKnown: true }));
  const names = new Set(known.map(({ from, to }) => `${from}>${to}`));
  const ids = new Set(steps.map(({ id }) => id));
  const others = [...hops].flatMap(([name, { from, to, times }]) =>
    names.has(name) || from === null || !ids.has(from) || !ids.has(to) ? [] : [{ from, to, times, isKnown: false }],
  );
  return [...known, ...others];
}

/** A way begins and ends in the middle of a box; beside it there is room for an exit. */
function atBoxes(points: readonly Point[]): Point[] {
  return points.map(({ x, y }, index) => ({ x: index === 0 || index === points.length - 1 ? x - EXIT / 2 : x, y }));
}

function curved(points: readonly Point[]): string {
  return points
    .map(({ x, y }, index) => {
      const before = points[index - 1];
      if (before === undefined) return `M${x} ${y}`;
      const middle = (before.y + y) / 2;
      return `C${before.x} ${middle} ${x} ${middle} ${x} ${y}`;
    })
    .join('');
}

function straight(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
