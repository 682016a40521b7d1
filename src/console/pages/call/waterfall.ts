import { type Call, type CallEvent, type CallTurn, commitOf, drawnAt, lastVoicedMs } from './call-model.ts';

/**
 * What the caller waited for: the silence that ends a turn, the recogniser's last words, the first answer of the dialog, its first whole
 * sentence, the first audio of that, its sending. `other`: a stage that the record does not tell apart.
 */
export const STAGES = ['endpointing', 'recogniser', 'dialog', 'text', 'speech', 'sending', 'other'] as const;
export type StageName = (typeof STAGES)[number];

export interface Stage {
  readonly name: StageName;
  readonly ms: number;
  /** Since the wait began. */
  readonly fromMs: number;
}

/** How long the caller waited for one reply. */
export interface Waterfall {
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
