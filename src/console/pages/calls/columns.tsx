import { VisuallyHidden } from '@mantine/core';
import { createContext, type ReactNode, useContext } from 'react';
import { Link } from 'wouter';
import type { z } from 'zod';
import type { callSummaryView } from '../../../http/api/calls/call-views.ts';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { SLOW_REPLY_MS, useFormat } from '../../parts/format.ts';
import { Moment } from '../../parts/states.tsx';
import { useWords } from '../../words.ts';
import classes from './calls.module.css';
import { splitAtWords } from './filters.ts';
import { answererWords, callsWords, outcomeWords } from './words.ts';

export type Call = z.output<typeof callSummaryView>;

/** The words that the search looks for. */
export const WantedWords = createContext<ReadonlySet<string>>(new Set());

/** Ends that an operator should look at. */
const FAILED: ReadonlySet<string> = new Set([
  'carrier-lost',
  'dialog-failed',
  'speech-unavailable',
  'transfer-failed',
  'internal-error',
  'process-died',
]);
const ARROWS = { inbound: '↙', outbound: '↗' } as const;

/** The person's number is the one that is not ours. */
function partiesOf({ direction, from, to }: Call): { readonly person: string; readonly ours: string } {
  return direction === 'inbound' ? { person: from, ours: to } : { person: to, ours: from };
}

/** Text with the words that were searched for. */
export function Found({ children }: { readonly children: string }): ReactNode {
  const wanted = useContext(WantedWords);
  // Parts have no identity of their own: their place is their key.
  return splitAtWords(children, wanted).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part));
}

function Party({ number }: { readonly number: string }): ReactNode {
  const w = useWords(callsWords);
  return number === '' ? <span className={classes.dimmed}>({w.erased})</span> : <span className="figures">{number}</span>;
}

export function Outcome({ call: { endReason, endedAt, answeredBy } }: { readonly call: Call }): ReactNode {
  const w = useWords(callsWords);
  const reasons: Readonly<Record<string, string>> = useWords(outcomeWords);
  const answerers = useWords(answererWords);
  if (endedAt === null) return <span className={classes.live}>● {w.live}</span>;
  const reason = endReason === null ? '' : (reasons[endReason] ?? endReason);
  const who = answeredBy === null || answeredBy === 'person' ? '' : ` · ${answerers[answeredBy]}`;
  const failed = FAILED.has(endReason ?? '');
  return (
    <span className={failed ? classes.warning : undefined}>
      {failed ? '⚠ ' : ''}
      {reason}
      {who}
    </span>
  );
}

function Wait({ ms }: { readonly ms: number | null }): ReactNode {
  const w = useWords(callsWords);
  const format = useFormat();
  if (ms === null) return null;
  const slow = ms >= SLOW_REPLY_MS;
  return (
    <span className={slow ? `figures ${classes.warning}` : 'figures'}>
      {format.duration(ms)}
      {slow ? ` · ${w.slow}` : ''}
    </span>
  );
}

/** How long the call took; nothing while it goes on. */
export function Took({ ms }: { readonly ms: number | null }): ReactNode {
  const format = useFormat();
  return ms === null ? null : format.duration(ms);
}

function Direction({ direction }: Pick<Call, 'direction'>): ReactNode {
  const w = useWords(callsWords);
  return (
    <>
      <span aria-hidden>{ARROWS[direction]} </span>
      {w[direction]}
    </>
  );
}

/** What the bot collected and noted, in one line. */
export function Collected({ call: { variables, notes } }: { readonly call: Call }): ReactNode {
  const text = [...Object.entries(variables).map(([name, value]) => `${name}: ${value}`), ...notes].join(' · ');
  return (
    <span title={text}>
      <Found>{text}</Found>
    </span>
  );
}

/** The person's number; the arrow shows the direction. */
export function Person({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(callsWords);
  return (
    <>
      <span title={w[call.direction]}>
        <span aria-hidden>{ARROWS[call.direction]} </span>
        <VisuallyHidden>{w[call.direction]} </VisuallyHidden>
      </span>
      <Party number={partiesOf(call).person} />
    </>
  );
}

function Recorded({ recorded }: Pick<Call, 'recorded'>): ReactNode {
  const w = useWords(callsWords);
  return recorded ? <span title={w.recorded}>● {w.recorded}</span> : null;
}

interface CallColumn extends Omit<GridColumn<Call>, 'title'> {
  readonly name: ColumnName;
  /** Its title in the catalogue. */
  readonly word: Exclude<ColumnName, 'outcome'> | 'endReason';
  /** Whether it is shown before anybody chose. */
  readonly shown: boolean;
}

const NAMES = [
  'time',
  'person',
  'ours',
  'direction',
  'bot',
  'carrier',
  'duration',
  'outcome',
  'disposition',
  'worst',
  'median',
  'turns',
  'collected',
  'campaign',
  'language',
  'recording',
  'analysis',
] as const;
export type ColumnName = (typeof NAMES)[number];

/** In the order in which they are shown. */
export const COLUMNS: readonly CallColumn[] = [
  {
    ...column('time', 132, true),
    cell: ({ id, startedAt }) => (
      <Link href={`/calls/${encodeURIComponent(id)}`} tabIndex={-1}>
        <Moment at={startedAt} />
      </Link>
    ),
  },
  { ...column('person', 140, true), cell: (call) => <Person call={call} /> },
  { ...column('ours', 140), cell: (call) => <Party number={partiesOf(call).ours} /> },
  { ...column('direction', 110), cell: ({ direction }) => <Direction direction={direction} /> },
  { ...column('bot', 90, true), cell: ({ bot }) => bot },
  { ...column('carrier', 110), cell: ({ carrier }) => carrier },
  { ...column('duration', 96, true), atEnd: true, cell: ({ durationMs }) => <Took ms={durationMs} /> },
  { ...column('outcome', 150, true), word: 'endReason', cell: (call) => <Outcome call={call} /> },
  { ...column('disposition', 104, true), cell: ({ disposition }) => disposition },
  { ...column('worst', 122, true), atEnd: true, cell: ({ worstReplyMs }) => <Wait ms={worstReplyMs} /> },
  { ...column('median', 122), atEnd: true, cell: ({ medianReplyMs }) => <Wait ms={medianReplyMs} /> },
  { ...column('turns', 72), atEnd: true, cell: ({ turns }) => turns },
  { ...column('collected', 140, true), cell: (call) => <Collected call={call} /> },
  { ...column('campaign', 150), cell: ({ campaign }) => campaign },
  { ...column('language', 90), cell: ({ language }) => language },
  { ...column('recording', 110), cell: ({ recorded }) => <Recorded recorded={recorded} /> },
  { ...column('analysis', 90), cell: ({ analysis }) => analysis },
];

function column<Name extends ColumnName>(name: Name, widthPx: number, shown = false) {
  return { name, word: name, widthPx, shown };
}
