import type { CarrierWitness } from '../../carriers/port.ts';
import type { FailOverStep } from '../../dialog/port.ts';
import type { SpeechSwitch } from '../../speech/port.ts';
import type { TurnStage } from '../../observability/traces.ts';
import { TurnIndex } from '../outbound/heard-ledger.ts';

/** Events of a call, on the gateway's monotonic clock. All reported latencies are derived from them. */
export type TimelineEvent =
  | { readonly type: 'attached' | 'detached'; readonly atMs: number; readonly detail: string }
  /** The owning process died, and another continued the call `gapMs` later. */
  | {
      readonly type: 'resumed';
      readonly atMs: number;
      readonly turn: number;
      readonly gapMs: number;
      /** The other machine that had the call, and where it has the recording until then. */
      readonly machine?: string;
      readonly recordingPath?: string;
    }
  | {
      readonly type: 'caller-committed';
      readonly atMs: number;
      readonly turn: number;
      readonly lastVoicedMs: number;
      readonly reason: string;
    }
  | { readonly type: 'final'; readonly atMs: number; readonly turn: number; readonly seg: number }
  | { readonly type: 'asked-early'; readonly atMs: number; readonly turn: number }
  | { readonly type: 'early-answer'; readonly atMs: number; readonly turn: number; readonly hit: boolean }
  | { readonly type: 'dialog-asked'; readonly atMs: number; readonly turn: number; readonly kind: string }
  | { readonly type: 'dialog-answered'; readonly atMs: number; readonly turn: number }
  /** The dialog took a step, or stands there. */
  | { readonly type: 'step'; readonly atMs: number; readonly turn: number; readonly name: string }
  | { readonly type: 'tts-asked'; readonly atMs: number; readonly turn: number; readonly unitId: string }
  | { readonly type: 'tts-first-byte'; readonly atMs: number; readonly turn: number; readonly unitId: string }
  /** First audio of a reply was sent; it is heard `leadMs` later, where the carrier has other audio to play first. */
  | { readonly type: 'first-frame'; readonly atMs: number; readonly turn: number; readonly leadMs?: number }
  | { readonly type: 'bot-finished'; readonly atMs: number; readonly turn: number }
  | { readonly type: 'hold' | 'resume' | 'restore'; readonly atMs: number; readonly turn: number }
  | { readonly type: 'clear'; readonly atMs: number; readonly turn: number; readonly onsetMs: number; readonly by: string }
  | { readonly type: 'digit'; readonly atMs: number; readonly turn: number }
  | { readonly type: 'digits-sent'; readonly atMs: number; readonly turn: number; readonly count: number }
  | { readonly type: 'filler'; readonly atMs: number; readonly turn: number; readonly waitingFor: string }
  | {
      readonly type: 'ordered';
      readonly atMs: number;
      readonly turn: number;
      readonly order: string;
      readonly by: string;
      /** Time after which it ends by itself. */
      readonly forMs?: number;
      /** The whispered text. */
      readonly text?: string;
    }
  /** The opinion of who answered changed. */
  | { readonly type: 'answered-by'; readonly atMs: number; readonly by: string; readonly confidence: number }
  | { readonly type: 'opted-out'; readonly atMs: number; readonly turn: number; readonly kind: string; readonly how: string }
  /** The recogniser or synthesizer changed, and why. */
  | {
      readonly type: 'speech';
      readonly atMs: number;
      readonly turn: number;
      readonly service: SpeechSwitch['service'];
      readonly by: string;
      readonly before?: string;
      readonly reason: SpeechSwitch['reason'];
    }
  /** Progress of a transfer: `started`, `ringing`, `answered`, `accepted`, `connected`, or its outcome. */
  | {
      readonly type: 'transfer';
      readonly atMs: number;
      readonly turn: number;
      readonly kind: 'cold' | 'warm';
      readonly what: string;
    }
  /** The server of the bot `from` is down, and this replacement serves the caller; `to`: the other bot. */
  | {
      readonly type: 'fail-over';
      readonly atMs: number;
      readonly turn: number;
      readonly from: string;
      readonly step: FailOverStep;
      readonly to?: string;
    }
  /** The carrier's own answer detection. */
  | { readonly type: 'witness'; readonly atMs: number; readonly witness: CarrierWitness }
  | { readonly type: 'recogniser'; readonly atMs: number; readonly detail: string }
  | { readonly type: 'problem'; readonly atMs: number; readonly detail: string };

/** The caller's wait by stage, in ms. Undefined where the stage did not happen. */
export interface TurnLatency {
  /** From the caller's last voiced sample to the commit. */
  readonly endpointing: number | undefined;
  /** From the commit to the words the dialog was asked with: the recogniser's settling time. */
  readonly asrFinal: number | undefined;
  readonly dialog: number | undefined;
  readonly ttsFirstByte: number | undefined;
  readonly firstFrame: number | undefined;
  /** From the caller's last voiced sample to the first frame of the reply. */
  readonly total: number | undefined;
}

/** Commit reasons that end no turn: the caller only listened or waited. */
const NO_TURN: ReadonlySet<string> = new Set(['backchannel', 'waiting']);

/** Start and end times of a turn's stages. */
interface TurnMoments {
  readonly lastVoicedMs: number | undefined;
  readonly committedMs: number | undefined;
  readonly askedMs: number | undefined;
  readonly answeredMs: number | undefined;
  readonly ttsAskedMs: number | undefined;
  readonly ttsFirstByteMs: number | undefined;
  readonly firstFrameMs: number | undefined;
}

function turnMoments(events: readonly TimelineEvent[], turn: number): TurnMoments {
  const mine = events.filter((event) => 'turn' in event && event.turn === turn);
  const committed = mine.filter((event) => event.type === 'caller-committed' && !NO_TURN.has(event.reason)).at(-1);
  const asked = mine.filter((event) => event.type === 'dialog-asked').at(-1);
  const afterAsked = mine.filter((event) => asked !== undefined && event.atMs >= asked.atMs);
  const first = (type: TimelineEvent['type']) => afterAsked.find((event) => event.type === type);
  return {
    lastVoicedMs: committed?.type === 'caller-committed' ? committed.lastVoicedMs : undefined,
    committedMs: committed?.atMs,
    askedMs: asked?.atMs,
    answeredMs: first('dialog-answered')?.atMs,
    ttsAskedMs: first('tts-asked')?.atMs,
    ttsFirstByteMs: first('tts-first-byte')?.atMs,
    firstFrameMs: first('first-frame')?.atMs,
  };
}

/** Derives a turn's latencies from the timeline; the turn is the one whose reply is measured. */
export function turnLatency(events: readonly TimelineEvent[], turn: number): TurnLatency {
  const at = turnMoments(events, turn);
  return {
    endpointing: between(at.lastVoicedMs, at.committedMs),
    asrFinal: between(at.committedMs, at.askedMs),
    dialog: between(at.askedMs, at.answeredMs),
    ttsFirstByte: between(at.ttsAskedMs, at.ttsFirstByteMs),
    firstFrame: between(at.ttsFirstByteMs, at.firstFrameMs),
    total: between(at.lastVoicedMs ?? at.askedMs, at.firstFrameMs),
  };
}

/** The stages of a turn that happened, under their metric names. */
export function turnStages(events: readonly TimelineEvent[], turn: number): TurnStage[] {
  const at = turnMoments(events, turn);
  const stages = [
    ['endpointing', at.lastVoicedMs, at.committedMs],
    ['asr-final', at.committedMs, at.askedMs],
    ['dialog', at.askedMs, at.answeredMs],
    ['tts-first-byte', at.ttsAskedMs, at.ttsFirstByteMs],
    ['first-frame', at.ttsFirstByteMs, at.firstFrameMs],
  ] as const;
  return stages.flatMap(([name, fromMs, toMs]) => (fromMs === undefined || toMs === undefined ? [] : [{ name, fromMs, toMs }]));
}

function between(fromMs: number | undefined, toMs: number | undefined): number | undefined {
  if (fromMs === undefined || toMs === undefined) return undefined;
  return Math.round((toMs - fromMs) * 10) / 10;
}

const MOST_EVENTS = 20_000;

/** The recogniser and synthesizer of a turn, where there were any; the last one after a switch. */
export interface SpeechParties {
  readonly recogniser?: string | undefined;
  readonly synthesizer?: string | undefined;
}

/** The events of one call, oldest first; bounded, the excess is counted. */
export class Timeline {
  readonly #events: TimelineEvent[] = [];
  #now: SpeechParties = {};
  /** The turn whose reply is being made or played. */
  #speaking: number | undefined;
  readonly #parties = new Map<number, SpeechParties>();
  readonly #byTurn = new TurnIndex<TimelineEvent>();
  dropped = 0;

  add(event: TimelineEvent): void {
    this.#note(event);
    if (this.#events.length >= MOST_EVENTS) {
      this.dropped += 1;
      return;
    }
    this.#events.push(event);
    if ('turn' in event) this.#byTurn.add(event.turn, event);
  }

  /** Takes over the events from before a crash. @param startMs start of the call on this process's clock, to which their times are relative */
  goOn(events: readonly TimelineEvent[], startMs: number): void {
    for (const event of events) {
      const voiced = 'lastVoicedMs' in event ? { lastVoicedMs: event.lastVoicedMs + startMs } : {};
      const onset = 'onsetMs' in event ? { onsetMs: event.onsetMs + startMs } : {};
      this.add({ ...event, ...voiced, ...onset, atMs: event.atMs + startMs });
    }
  }

  /** The events of one turn, oldest first. */
  ofTurn(turn: number): readonly TimelineEvent[] {
    return this.#byTurn.of(turn);
  }

  /** The recogniser of a turn's words, and the synthesizer of its reply. */
  partiesOf(turn: number): SpeechParties {
    return this.#parties.get(turn) ?? {};
  }

  #note(event: TimelineEvent): void {
    if (event.type === 'speech') {
      const service = event.service === 'recognition' ? 'recogniser' : 'synthesizer';
      this.#now = { ...this.#now, [service]: event.by };
      // The rest of a reply that had begun.
      const turn = this.#speaking;
      if (service === 'synthesizer' && turn !== undefined)
        this.#parties.set(turn, { ...this.#parties.get(turn), synthesizer: event.by });
    }
    if (event.type === 'dialog-asked' && event.kind === 'spoken')
      this.#parties.set(event.turn, { ...this.#parties.get(event.turn), recogniser: this.#now.recogniser });
    else if (event.type === 'tts-first-byte') {
      this.#speaking = event.turn;
      this.#parties.set(event.turn, { ...this.#parties.get(event.turn), synthesizer: this.#now.synthesizer });
    } else if (event.type === 'bot-finished') this.#speaking = undefined;
  }

  get events(): readonly TimelineEvent[] {
    return this.#events;
  }
}
