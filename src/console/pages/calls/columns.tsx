import { VisuallyHidden } from '@mantine/core';
import { columnVisibilityFeature, createColumnHelper, tableFeatures } from '@tanstack/react-table';
import { createContext, type ReactNode, useContext } from 'react';
import { Link } from 'wouter';
import type { z } from 'zod';
import type { callSummaryView } from '../../../http/api/calls/call-views.ts';
import { clockText, Moment } from '../../parts/time.tsx';
import { say, useWords } from '../../words.ts';
import classes from './calls.module.css';
import { splitAtWords } from './filters.ts';
import { answererWords, callsWords, outcomeWords } from './words.ts';

export type Call = z.output<typeof callSummaryView>;
export const features = tableFeatures({ columnVisibilityFeature });
const helper = createColumnHelper<typeof features, Call>();

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
/** A reply that a caller waits for longer than this is slow, in ms. */
const SLOW_MS = 1_500;

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
  if (ms === null) return null;
  const slow = ms >= SLOW_MS;
  return (
    <span className={slow ? `figures ${classes.warning}` : 'figures'}>
      {say(w.milliseconds, { count: ms })}
      {slow ? ` · ${w.slow}` : ''}
    </span>
  );
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

/** Names of the columns in the catalogue, their widths in px, and whether they are shown at first. */
export const COLUMNS = {
  time: { word: 'time', width: 152, shown: true },
  person: { word: 'person', width: 146, shown: true },
  ours: { word: 'ours', width: 140, shown: false },
  direction: { word: 'direction', width: 110, shown: false },
  bot: { word: 'bot', width: 110, shown: true },
  carrier: { word: 'carrier', width: 110, shown: false },
  duration: { word: 'duration', width: 92, shown: true },
  outcome: { word: 'endReason', width: 170, shown: true },
  disposition: { word: 'disposition', width: 120, shown: true },
  worst: { word: 'worst', width: 138, shown: true },
  median: { word: 'median', width: 138, shown: false },
  turns: { word: 'turns', width: 72, shown: false },
  collected: { word: 'collected', width: 140, shown: true },
  campaign: { word: 'campaign', width: 150, shown: false },
  language: { word: 'language', width: 90, shown: false },
  recording: { word: 'recording', width: 110, shown: false },
  analysis: { word: 'analysis', width: 90, shown: false },
} as const;
export type ColumnName = keyof typeof COLUMNS;
export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly ColumnName[];

/** Numbers stand at the end of their column. */
export const AT_END: ReadonlySet<string> = new Set(['duration', 'worst', 'median', 'turns']);

export const columns = helper.columns([
  helper.display({
    id: 'time',
    cell: ({ row: { original } }) => (
      <Link href={`/calls/${encodeURIComponent(original.id)}`} tabIndex={-1}>
        <Moment at={original.startedAt} />
      </Link>
    ),
  }),
  helper.display({ id: 'person', cell: ({ row: { original } }) => <Person call={original} /> }),
  helper.display({ id: 'ours', cell: ({ row: { original } }) => <Party number={partiesOf(original).ours} /> }),
  helper.display({ id: 'direction', cell: ({ row: { original } }) => <Direction direction={original.direction} /> }),
  helper.accessor('bot', { id: 'bot' }),
  helper.accessor('carrier', { id: 'carrier' }),
  helper.display({
    id: 'duration',
    cell: ({ row: { original } }) => (original.durationMs === null ? null : clockText(original.durationMs)),
  }),
  helper.display({ id: 'outcome', cell: ({ row: { original } }) => <Outcome call={original} /> }),
  helper.display({ id: 'disposition', cell: ({ row: { original } }) => original.disposition }),
  helper.display({ id: 'worst', cell: ({ row: { original } }) => <Wait ms={original.worstReplyMs} /> }),
  helper.display({ id: 'median', cell: ({ row: { original } }) => <Wait ms={original.medianReplyMs} /> }),
  helper.accessor('turns', { id: 'turns' }),
  helper.display({ id: 'collected', cell: ({ row: { original } }) => <Collected call={original} /> }),
  helper.display({ id: 'campaign', cell: ({ row: { original } }) => original.campaign }),
  helper.accessor('language', { id: 'language' }),
  helper.display({ id: 'recording', cell: ({ row: { original } }) => <Recorded recorded={original.recorded} /> }),
  helper.accessor('analysis', { id: 'analysis' }),
]);
