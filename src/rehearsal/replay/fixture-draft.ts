import { type Encoding, idleByte } from '../../audio/format.ts';
import type { AnswerNotes, AnswerTiming } from './recorded-answer.ts';
import type { Entry, FixtureBody } from './fixture.ts';
import type { StimulusGate } from './stimulus-gate.ts';

/** A quarter of an hour of both sides of a telephone leg, four minutes of a wideband one; a call that is longer is kept so far. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_ENTRIES = 200_000;
/** A tone may have begun before its key was told: so many messages of 20 ms before are silence too. */
const SECRET_FRAMES = 15;

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };
type Tables = Pick<FixtureBody, 'recognitions' | 'answers' | 'speeches' | 'acts' | 'spares' | 'lostMarks'>;

/** A fixture that is being written: what came into the call so far. What is beyond its limits is left out, and said to be. */
export class FixtureDraft implements Mutable<Tables> {
  readonly log: Entry[] = [];
  readonly recognitions: FixtureBody['recognitions'] = [];
  readonly answers: FixtureBody['answers'] = [];
  readonly speeches: FixtureBody['speeches'] = [];
  readonly acts: FixtureBody['acts'] = [];
  readonly spares: boolean[] = [];
  readonly lostMarks: string[] = [];
  readonly callerAudio: Uint8Array[] = [];
  readonly botAudio: Uint8Array[] = [];
  readonly baseMs: number;
  truncatedAtMs: number | undefined;
  readonly #gate: StimulusGate;
  readonly #mostBytes: number;
  #bytes = 0;
  #silenced = false;

  constructor(gate: StimulusGate, mostBytes = MOST_BYTES) {
    this.#gate = gate;
    this.#mostBytes = mostBytes;
    this.baseMs = gate.nowMs;
  }

  /** Since the call's first moment. */
  get t(): number {
    return this.#gate.nowMs - this.baseMs;
  }

  add(entry: Entry): void {
    if (this.log.length >= MOST_ENTRIES) this.truncatedAtMs ??= this.t;
    if (this.truncatedAtMs === undefined) this.log.push(entry);
  }

  /** Keeps a copy of audio, whose entry has just been added. */
  keepAudio(side: 'caller' | 'bot', audio: Uint8Array): void {
    if (this.truncatedAtMs !== undefined) return;
    this.#bytes += audio.length;
    (side === 'caller' ? this.callerAudio : this.botAudio).push(Uint8Array.from(audio));
    if (this.#bytes > this.#mostBytes) this.truncatedAtMs = this.t;
  }

  /** What the recogniser is given of the caller: silence where something secret is being keyed. */
  recogniserHears(pcm: Int16Array): void {
    this.#silenced = isSilence(pcm);
  }

  /**
   * Has the caller's audio that is taken in by this be silence where the call made it silence, and a little before.
   * @param encoding of the audio as it is kept
   * @param pcm the same as the call gets it, which may make silence of it
   */
  whileHearing(encoding: Encoding, pcm: Int16Array, hear: () => void): void {
    this.#silenced = false;
    const wasSilent = isSilence(pcm);
    hear();
    if (!this.#silenced || wasSilent) return;
    const idle = idleByte(encoding);
    for (const audio of this.callerAudio.slice(-SECRET_FRAMES)) audio.fill(idle);
  }

  /** Notes that write an answer down. @param aborted told when it was no longer wanted */
  answerNotes<Part>(
    part: (part: Part, timing: AnswerTiming) => void,
    end: (timing: AnswerTiming, failure: string | undefined) => void,
    aborted: (afterMs: number) => void,
  ): AnswerNotes<Part> {
    return { part, aborted, end: (timing, error) => end(timing, error === undefined ? undefined : failureName(error)) };
  }
}

function isSilence(pcm: Int16Array): boolean {
  return pcm.every((sample) => sample === 0);
}

/** What kind of error it was; its message may hold an address, a token or somebody's words. */
export function failureName(error: unknown): string {
  if (!(error instanceof Error)) return 'Error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
