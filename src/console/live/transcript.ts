import type { NewsView, WatchMessage } from '../../http/api/calls/watch-messages.ts';

type Refusal = Extract<WatchMessage, { type: 'refused' }>['why'];

/** What the watch socket told of one call. */
export type Told =
  | { readonly type: 'news'; readonly at: string; readonly news: NewsView }
  | { readonly type: 'missed'; readonly count: number }
  | { readonly type: 'refused'; readonly why: Refusal };

type Floor = Extract<NewsView, { type: 'floor' }>;
type Stages = Extract<NewsView, { type: 'reply' }>['stages'];

/** A contest of the floor while the bot spoke, and its result. */
export interface FloorMark {
  readonly what: Floor['what'];
  /** What it was decided by. */
  readonly by: string;
  readonly at: string;
}

interface Line {
  /** Unique within this transcript. */
  readonly key: number;
  readonly at: string;
}

export interface CallerLine extends Line {
  readonly type: 'caller';
  readonly turn: number;
  /** `spoken`, `keyed`, `no-input`. */
  readonly kind: string;
  /** Null where the reader may not see texts. */
  readonly text: string | null;
}

export interface BotLine extends Line {
  readonly type: 'bot';
  readonly turn: number;
  /** Sentences whose audio has begun; null for one that the reader may not see. */
  readonly sentences: readonly (string | null)[];
  /** Once nothing more of it will be heard: what was to be said, and the beginning of it that the caller heard. */
  readonly outcome?: { readonly heard: string | null; readonly unheard: string };
  /** From the caller's last sound to the bot's first, and where that time went. */
  readonly replyMs?: number;
  readonly stages?: Stages;
  readonly marks: readonly FloorMark[];
}

export type TranscriptLine =
  | CallerLine
  | BotLine
  | (Line & { readonly type: 'mark'; readonly mark: FloorMark })
  | (Line & { readonly type: 'keys'; readonly digits: string | null })
  | (Line & { readonly type: 'answered-by'; readonly by: string; readonly confidence: number })
  | (Line & { readonly type: 'ordered'; readonly order: string; readonly by: string })
  | (Line & { readonly type: 'missed'; readonly count: number })
  | (Line & { readonly type: 'ended'; readonly reason: string });

/** A call as it goes, as far as it was told. */
export interface Transcript {
  /** Oldest first. */
  readonly lines: readonly TranscriptLine[];
  /** What the caller is saying now; empty between turns. */
  readonly partial: string;
  /** Reply times of the last turns, oldest first. */
  readonly replies: readonly { readonly turn: number; readonly ms: number }[];
  /** Where the dialog is; the step is a flow's alone, and slots are null where the reader may not see them. */
  readonly state: { readonly step: string | null; readonly slots: Readonly<Record<string, string>> | null } | undefined;
  /** Why the call ended. */
  readonly ended: string | undefined;
  /** Why the gateway tells nothing of this call. */
  readonly refused: Refusal | undefined;
}

export const noTranscript: Transcript = {
  lines: [],
  partial: '',
  replies: [],
  state: undefined,
  ended: undefined,
  refused: undefined,
};

/** An open page must not grow for ever. */
const MOST_LINES = 2_000;
const MOST_REPLIES = 100;

/** Adds what was told since, oldest first. */
export function foldNews(transcript: Transcript, told: readonly Told[]): Transcript {
  const lines = [...transcript.lines];
  const after = { ...transcript, lines, replies: [...transcript.replies] };
  for (const each of told) {
    const at = each.type === 'news' ? each.at : (lines.at(-1)?.at ?? '');
    const line = { key: (lines.at(-1)?.key ?? 0) + 1, at };
    switch (each.type) {
      case 'missed':
        lines.push({ ...line, type: 'missed', count: each.count });
        break;
      case 'refused':
        after.refused = each.why;
        break;
      case 'news':
        after.refused = undefined;
        fold(after, line, each.news);
        break;
    }
  }
  if (lines.length > MOST_LINES) lines.splice(0, lines.length - MOST_LINES);
  if (after.replies.length > MOST_REPLIES) after.replies.splice(0, after.replies.length - MOST_REPLIES);
  return after;
}

type Growing = { -readonly [Name in keyof Transcript]: Transcript[Name] } & {
  lines: TranscriptLine[];
  replies: { turn: number; ms: number }[];
};

function fold(transcript: Growing, line: Line, news: NewsView): void {
  const { lines } = transcript;
  switch (news.type) {
    case 'started':
      return;
    case 'partial':
      transcript.partial = news.text;
      return;
    case 'turn': {
      transcript.partial = '';
      // The bot speaks first, and what was keyed came as keys.
      if (news.kind === 'start') return;
      const caller = { type: 'caller', turn: news.turn, kind: news.kind, text: news.callerText } as const;
      // A caller who went on speaking before anything was answered has the same turn again, grown.
      const index = lines.findLastIndex((each) => each.type === 'caller' && each.turn === news.turn);
      const before = lines[index];
      if (before === undefined) lines.push({ ...line, ...caller });
      else lines[index] = { ...before, ...caller };
      return;
    }
    case 'reply': {
      const { turn, totalMs, stages } = news;
      if (totalMs === undefined) return;
      transcript.replies.push({ turn, ms: totalMs });
      change(lines, turn, (bot) => ({ ...bot, replyMs: totalMs, stages }));
      return;
    }
    case 'saying': {
      if (news.text === '') return;
      const grown = change(lines, news.turn, (bot) => ({ ...bot, sentences: [...bot.sentences, news.text] }));
      if (!grown) lines.push({ ...line, type: 'bot', turn: news.turn, sentences: [news.text], marks: [] });
      return;
    }
    case 'heard': {
      if (news.text === '') return;
      const outcome = news.text === null || news.heard === null ? { heard: null, unheard: '' } : outcomeOf(news.text, news.heard);
      if (change(lines, news.turn, (bot) => ({ ...bot, outcome }))) return;
      lines.push({ ...line, type: 'bot', turn: news.turn, sentences: [], outcome, marks: [] });
      return;
    }
    case 'floor': {
      const mark = { what: news.what, by: news.by, at: line.at };
      // It is about the bot's line, which keys may have interrupted.
      const index = lines.findLastIndex(({ type }) => type !== 'keys');
      const bot = lines[index];
      if (bot?.type === 'bot') lines[index] = { ...bot, marks: [...bot.marks, mark] };
      else lines.push({ ...line, type: 'mark', mark });
      return;
    }
    case 'answered-by':
      lines.push({ ...line, type: 'answered-by', by: news.by, confidence: news.confidence });
      return;
    case 'digit': {
      const last = lines.at(-1);
      if (last?.type === 'keys' && last.digits !== null && news.digit !== null)
        lines[lines.length - 1] = { ...last, digits: last.digits + news.digit };
      else lines.push({ ...line, type: 'keys', digits: news.digit });
      return;
    }
    case 'state':
      transcript.state = { step: news.step, slots: news.slots };
      return;
    case 'ordered':
      lines.push({ ...line, type: 'ordered', order: news.order, by: news.by });
      return;
    case 'ended':
      transcript.partial = '';
      transcript.ended = news.reason;
      lines.push({ ...line, type: 'ended', reason: news.reason });
      return;
  }
}

/** Lines without the caller's last one while that grows: the partial holds its words too. */
export function settledLines({ lines, partial }: Transcript): readonly TranscriptLine[] {
  const last = lines.at(-1);
  const grows = last?.type === 'caller' && last.text !== null && last.text !== '' && isLonger(partial, last.text);
  return grows ? lines.slice(0, -1) : lines;
}

/** Whether one text begins with another; case and signs do not count. */
function isLonger(text: string, beginning: string): boolean {
  const [whole, part] = [text, beginning].map((each) => each.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, ''));
  return whole?.startsWith(part ?? '') === true;
}

/** Changes the bot's line of a turn while it is open: what comes after its end, as a text that an operator typed, is a line of its own. */
function change(lines: TranscriptLine[], turn: number, next: (bot: BotLine) => BotLine): boolean {
  const index = lines.findLastIndex((line) => line.type === 'bot' && line.turn === turn);
  const bot = lines[index];
  if (bot?.type !== 'bot' || bot.outcome !== undefined) return false;
  lines[index] = next(bot);
  return true;
}

/** Splits what was to be said where hearing ended; a half-heard word, which ends in a dash, counts as not heard from the dash on. */
export function outcomeOf(text: string, heard: string): { heard: string; unheard: string } {
  const known = heard.replace(/[—–-]+\s*$/u, '');
  const whole = text.startsWith(heard) ? heard : known;
  let length = 0;
  while (length < whole.length && whole[length] === text[length]) length += 1;
  // Where the two differ before the end, the words as heard are the truth.
  return length < whole.length ? { heard, unheard: '' } : { heard: text.slice(0, length), unheard: text.slice(length) };
}
