import type { Clock } from '../../kernel/clock.ts';
import type { Recording } from '../recording/recording.ts';

/** A message left after the tone. Its words are in its turn. */
export interface VoicemailRecord {
  readonly turn: number;
  readonly startedAtWallMs: number;
  readonly durationMs: number;
  /** Its place in the recording; absent where there is none. */
  readonly recorded?: { readonly fromMs: number; readonly toMs: number } | undefined;
}

type Sound = Pick<Recording, 'positionMs' | 'message'>;

/** Less voice is no message: a breath, a click. */
const LEAST_VOICE_MS = 300;
const FRAME_MS = 20;

interface Open {
  readonly startedAtWallMs: number;
  readonly startedMs: number;
  readonly fromMs: number | undefined;
  voicedMs: number;
  /** When the caller seemed to have finished; the next step waits for their last words. */
  finishedMs: number | undefined;
}

/** The messages of one call: where each begins and ends, and whether it has voice. Their sound is in the call's recording. */
export class VoicemailLog {
  readonly #clock: Clock;
  readonly #records: VoicemailRecord[] = [];
  #open: Open | undefined;
  /** The message that ended last, in case its caller goes on. */
  #last: { readonly turn: number; readonly open: Open } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Oldest first. */
  get records(): readonly VoicemailRecord[] {
    return this.#records;
  }

  /** The message of an ended turn. */
  of(turn: number): VoicemailRecord | undefined {
    return this.#records.find((record) => record.turn === turn);
  }

  /** Takes over the messages from before a crash. */
  goOn(records: readonly VoicemailRecord[]): void {
    this.#records.push(...records);
  }

  /** The tone was played: a message begins. */
  begin(sound: Sound | undefined): void {
    if (this.#open !== undefined) return;
    const startedMs = this.#clock.nowMs();
    sound?.message(true, startedMs);
    const fromMs = sound?.positionMs(startedMs);
    this.#open = { startedAtWallMs: this.#clock.wallMs(), startedMs, fromMs, voicedMs: 0, finishedMs: undefined };
  }

  /** Takes in 20 ms of the caller. */
  frame(isVoiced: boolean): void {
    if (this.#open === undefined || !isVoiced) return;
    this.#open.voicedMs += FRAME_MS;
    this.#open.finishedMs = undefined;
  }

  /** The caller's turn was committed. */
  finished(): void {
    if (this.#open !== undefined) this.#open.finishedMs ??= this.#clock.nowMs();
  }

  /** @returns whether the caller has spoken since the tone */
  get hasVoice(): boolean {
    return (this.#open?.voicedMs ?? 0) >= LEAST_VOICE_MS;
  }

  /** Ends the message. @param turn the one its words open */
  end(sound: Sound | undefined, turn: number): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const nowMs = this.#clock.nowMs();
    const endedMs = open.finishedMs ?? nowMs;
    const toMs = sound?.positionMs(endedMs);
    sound?.message(false, nowMs);
    if (open.voicedMs < LEAST_VOICE_MS) return;
    const { startedAtWallMs, startedMs, fromMs } = open;
    const recorded = fromMs === undefined || toMs === undefined ? {} : { recorded: { fromMs, toMs } };
    this.#records.push({ turn, startedAtWallMs, durationMs: endedMs - startedMs, ...recorded });
    this.#last = { turn, open };
  }

  /** The caller continues the message of a turn that was rolled back. */
  reopen(sound: Sound | undefined, turn: number): void {
    if (this.#last?.turn !== turn) return;
    this.#records.pop();
    this.#open = this.#last.open;
    this.#last = undefined;
    sound?.message(true, this.#clock.nowMs());
  }
}
