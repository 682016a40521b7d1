import type { CallRecord, TurnRecord } from '../../call/log/call-record.ts';
import type { TimelineEvent } from '../../call/log/timeline.ts';
import type { SeenRequest } from './mocked-world.ts';

/** One line of a call, as the caller lived it. */
export interface CallLine {
  readonly who: 'bot' | 'caller';
  /** 0 for the greeting. */
  readonly turn: number;
  /** What the caller heard of the bot, or said or keyed; a half-heard word ends in a dash. */
  readonly text: string;
  /** What the bot was to say, where the caller did not hear all of it. */
  readonly meant?: string | undefined;
}

/** Times of a call in ms, by the clock of its depth; undefined where nothing was measured. */
export interface CallTimes {
  /** From the answer to the bot's first sound. */
  readonly firstWordMs: number | undefined;
  /** From the caller's last word to the bot's first sound, the 95th percentile. */
  readonly replyP95Ms: number | undefined;
  /** All of these waits, in the order of the turns. */
  readonly repliesMs: readonly number[];
  /** The longest of these waits; what covers a wait ends it. */
  readonly longestWaitMs: number | undefined;
  readonly durationMs: number;
}

export interface CallPrice {
  readonly currency: string;
  readonly total: number;
}

export const NOT_BEGUN = 'not-begun';

/** What is known of a rehearsed call, for the checks and the reports. */
export interface Evidence {
  readonly lines: readonly CallLine[];
  /** Why the call ended; `NOT_BEGUN` for one that could not be made. */
  readonly end: string;
  readonly disposition: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  readonly steps: readonly string[];
  /** Targets, oldest first. */
  readonly transfers: readonly string[];
  readonly keys: string;
  readonly plays: readonly string[];
  /** Bot and language at the end. */
  readonly bot: string;
  readonly language: string;
  /** The time of a call-back; '' for one without a time, undefined for none. */
  readonly callBack: string | undefined;
  readonly optOut: 'opt-out' | 'wrong-number' | undefined;
  readonly requests: readonly SeenRequest[];
  /** Turns of the caller that the bot answered. */
  readonly turns: number;
  readonly interruptions: number;
  readonly interruptionsIgnored: number;
  /** How often the bot began to answer while the caller still spoke; known of calls with sound alone. */
  readonly cutOffs: number;
  /** Undefined where it is not known. */
  readonly cost: CallPrice | undefined;
  readonly times: CallTimes;
  /** Errors of a dialog that had no answer. */
  readonly failures: readonly string[];
  /** What kept the scenario from being played: a caller without a turn, a request that no mock answers. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** Path of a WAV file with the caller on the left and the bot on the right; only where the call had sound, and is kept. */
  readonly sound?: string | undefined;
}

/** Evidence for a call that could not be made. */
export function nothingOf({ name, language }: { readonly name: string; readonly language: string }, problem: string): Evidence {
  return {
    lines: [],
    end: NOT_BEGUN,
    disposition: undefined,
    variables: {},
    notes: [],
    steps: [],
    transfers: [],
    keys: '',
    plays: [],
    bot: name,
    language,
    callBack: undefined,
    optOut: undefined,
    requests: [],
    turns: 0,
    interruptions: 0,
    interruptionsIgnored: 0,
    cutOffs: 0,
    cost: undefined,
    times: { firstWordMs: undefined, replyP95Ms: undefined, repliesMs: [], longestWaitMs: undefined, durationMs: 0 },
    failures: [],
    problems: [problem],
    warnings: [],
  };
}

/** What both sides of a recorded call lived through. */
export function linesOf({ turns, sentences }: Pick<CallRecord, 'turns' | 'sentences'>): CallLine[] {
  const covers = coversOf(sentences);
  return turns.flatMap((turn) => {
    const heard = turn.botHeardText;
    const meant = heard === turn.botText ? undefined : turn.botText;
    return [
      ...callerLine(turn),
      ...(covers.get(turn.index) ?? []).map((text): CallLine => ({ who: 'bot', turn: turn.index, text })),
      ...(turn.botText === '' && heard === '' ? [] : [{ who: 'bot', turn: turn.index, text: heard, meant } as const]),
    ];
  });
}

/** What covered the wait for a reply belongs to no turn: it is heard before the reply that follows. */
function coversOf(sentences: CallRecord['sentences']): ReadonlyMap<number, readonly string[]> {
  const covers = new Map<number, readonly string[]>();
  let waiting: string[] = [];
  for (const { turnIndex, heardText } of sentences) {
    if (turnIndex < 0) {
      if (heardText !== '') waiting.push(heardText);
    } else if (waiting.length > 0) {
      covers.set(turnIndex, [...(covers.get(turnIndex) ?? []), ...waiting]);
      waiting = [];
    }
  }
  return covers;
}

function callerLine({ index, input, callerText }: TurnRecord): CallLine[] {
  switch (input.kind) {
    case 'spoken':
    case 'keyed':
      return callerText === '' ? [] : [{ who: 'caller', turn: index, text: callerText }];
    case 'no-input':
      return [{ who: 'caller', turn: index, text: '(silence)' }];
    case 'start':
    case 'tool-result':
    case 'transfer':
      return [];
  }
}

/** Turns in which the caller said, keyed or withheld something. */
export function callerTurns({ turns }: Pick<CallRecord, 'turns'>): number {
  return turns.filter(({ input: { kind } }) => kind === 'spoken' || kind === 'keyed' || kind === 'no-input').length;
}

/** Times of a recorded call. */
export function timesOf({ turns, timeline, durationMs }: Pick<CallRecord, 'turns' | 'timeline' | 'durationMs'>): CallTimes {
  const attached = timeline.find(({ type }) => type === 'attached');
  const first = timeline.find(({ type }) => type === 'first-frame');
  const waits = turns
    .filter(({ input }) => input.kind === 'spoken' || input.kind === 'keyed')
    .flatMap((turn) => waitOf(turn, timeline));
  const replies = waits.map(({ replyMs }) => replyMs).filter((replyMs) => replyMs !== undefined);
  return {
    firstWordMs: attached === undefined || first === undefined ? undefined : Math.round(first.atMs - attached.atMs),
    replyP95Ms: percentile(replies, 0.95),
    repliesMs: replies.map((replyMs) => Math.round(replyMs)),
    longestWaitMs: percentile(
      waits.map(({ silentMs }) => silentMs),
      1,
    ),
    durationMs: Math.round(durationMs),
  };
}

/** How long the caller waited in a turn: for the reply, and for any sound. */
function waitOf(
  { index, latency }: TurnRecord,
  timeline: readonly TimelineEvent[],
): { replyMs: number | undefined; silentMs: number }[] {
  const committed = timeline.findLast((event) => event.type === 'caller-committed' && event.turn === index);
  const sinceMs = committed?.type === 'caller-committed' ? committed.lastVoicedMs : undefined;
  const filler = timeline.find((event) => event.type === 'filler' && event.turn === index);
  const untilFillerMs = filler === undefined || sinceMs === undefined ? undefined : filler.atMs - sinceMs;
  const silentMs = untilFillerMs ?? latency.total;
  return silentMs === undefined ? [] : [{ replyMs: latency.total, silentMs }];
}

/** A percentile of measured values, rounded; undefined without any. @param share from 0 to 1 */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((left, right) => left - right);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return value === undefined ? undefined : Math.round(value);
}

/** A call in lines for people: `bot     Which day would suit you?`. */
export function transcriptOf({ lines, end, variables }: Pick<Evidence, 'lines' | 'end' | 'variables'>): string[] {
  const values = Object.entries(variables).map(([name, value]) => `${name} = ${value}`);
  return [...lines.map(lineText), ...(values.length === 0 ? [] : [`values  ${values.join(', ')}`]), `end     ${end}`];
}

/** @returns such as `caller  Tuesday`; of a sentence that was cut, the rest in brackets */
export function lineText({ who, text, meant }: CallLine): string {
  const rest = meant === undefined ? '' : ` [cut; it was: ${meant}]`;
  return `${who.padEnd(8)}${text}${rest}`;
}
