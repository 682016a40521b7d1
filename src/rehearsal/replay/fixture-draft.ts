import { type Encoding, idleByte } from '../../audio/format.ts';
import type { AnswerNotes, AnswerTiming, StimulusGate } from './stimulus-gate.ts';
import type { Entry, FixtureBody } from './fixture.ts';

/**
 * Limit of a fixture: a quarter of an hour of both sides on a telephone leg, four minutes on a wideband one; the rest of a longer call is left out.
 */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_ENTRIES = 200_000;
/** A tone may begin before its key is reported: this many 20 ms messages before it are silenced too. */
const SECRET_FRAMES = 15;

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };
type Tables = Pick<FixtureBody, 'recognitions' | 'answers' | 'speeches' | 'acts' | 'spares' | 'lostMarks'>;

/** A fixture in recording: all input of the call so far. Parts beyond the limits are left out and marked. */
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

  /** Time since the call's start. */
  get t(): number {
    return this.#gate.nowMs - this.baseMs;
  }

  add(entry: Entry): void {
    if (this.log.length >= MOST_ENTRIES) this.truncatedAtMs ??= this.t;
    if (this.truncatedAtMs === undefined) this.log.push(entry);
  }

  /** Copies audio for the entry just added. */
  keepAudio(side: 'caller' | 'bot', audio: Uint8Array): void {
    if (this.truncatedAtMs !== undefined) return;
    this.#bytes += audio.length;
    (side === 'caller' ? this.callerAudio : this.botAudio).push(Uint8Array.from(audio));
    if (this.#bytes > this.#mostBytes) this.truncatedAtMs = this.t;
  }

  /** The caller's audio for the recogniser: silence while a secret is keyed. */
  recogniserHears(pcm: Int16Array): void {
    this.#silenced = isSilence(pcm);
  }

  /**
   * Silences the caller's recorded audio where the call silenced it, and slightly before.
   * @param encoding of the recorded audio
   * @param pcm the same audio as the call gets it, and may silence in place
   */
  whileHearing(encoding: Encoding, pcm: Int16Array, hear: () => void): void {
    this.#silenced = false;
    const wasSilent = isSilence(pcm);
    hear();
    if (!this.#silenced || wasSilent) return;
    const idle = idleByte(encoding);
    for (const audio of this.callerAudio.slice(-SECRET_FRAMES)) audio.fill(idle);
  }

  /** Makes the notes that record an answer. @param aborted called when it is cancelled */
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

/** The kind of an error; its message may contain an address, a token or words. */
export function failureName(error: unknown): string {
  if (!(error instanceof Error)) return 'Error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
