import { durationMs, TELEPHONE_FORMAT } from '../../audio/format.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { SwitchReason, SynthesisRequest, Synthesizer } from '../port.ts';

/** Audio that does not go on this long after what there was of it would be heard out has stopped. */
const STALLED_MS = 1_000;

/** One synthesizer that may speak a sentence. */
export interface SynthesisCandidate {
  readonly name: string;
  readonly synthesizer: Synthesizer;
  /** The sentence as this one is asked for it: with a voice of its own. */
  request(asked: SynthesisRequest): SynthesisRequest;
}

export interface SynthesisWatch {
  /** Its audio is heard from here on. @param reason why not that of the one before it */
  speaks(candidate: SynthesisCandidate, reason: SwitchReason | undefined): void;
  /** @param error undefined where it only was too late */
  failed(candidate: SynthesisCandidate, error: unknown): void;
  firstAudio(candidate: SynthesisCandidate, afterMs: number): void;
  /** Wait for the first audio until another synthesizer is asked. */
  firstAudioLateMs(candidate: SynthesisCandidate): number;
}

/** A sentence that one synthesizer was asked for. */
class Asked {
  readonly candidate: SynthesisCandidate;
  readonly askedMs: number;
  readonly #audio: AsyncIterator<Uint8Array>;
  readonly #abort = new AbortController();
  #next: Promise<Piece> | undefined;

  constructor(candidate: SynthesisCandidate, request: SynthesisRequest, signal: AbortSignal, nowMs: number) {
    this.candidate = candidate;
    this.askedMs = nowMs;
    const either = AbortSignal.any([signal, this.#abort.signal]);
    this.#audio = candidate.synthesizer.speak(request, either)[Symbol.asyncIterator]();
  }

  /** The piece that comes next, the same until it was taken. Never rejects. */
  get next(): Promise<Piece> {
    this.#next ??= this.#read();
    return this.#next;
  }

  take(): void {
    this.#next = undefined;
  }

  async close(): Promise<void> {
    this.#abort.abort(new Error('another synthesizer speaks'));
    await this.#audio.return?.().catch(() => undefined);
  }

  async #read(): Promise<Piece> {
    try {
      for (;;) {
        const result = await this.#audio.next();
        if (result.done === true) return { type: 'end', of: this };
        if (result.value.length > 0) return { type: 'audio', of: this, bytes: result.value };
      }
    } catch (error) {
      return { type: 'failed', of: this, error };
    }
  }
}

interface Audio {
  readonly type: 'audio';
  readonly of: Asked;
  readonly bytes: Uint8Array;
}

interface Ending {
  readonly type: 'end' | 'failed';
  readonly of: Asked;
  readonly error?: unknown;
}

type Piece = Audio | Ending;

/**
 * Speaks a sentence by the first synthesizer that can. Before the first audio another one is asked when it fails or is late, and the
 * first to sound speaks. One that fails in mid-sentence is followed by the next, which says the whole sentence, once.
 * @param candidates one or more, first choice first
 * @throws the last candidate's error; the signal's reason
 */
export async function* speakWithFallback(
  candidates: readonly SynthesisCandidate[],
  asked: SynthesisRequest,
  signal: AbortSignal,
  { clock, watch }: { readonly clock: Clock; readonly watch: SynthesisWatch },
): AsyncIterable<Uint8Array> {
  const left = [...candidates];
  const running: Asked[] = [];
  let reason: SwitchReason | undefined;
  let repeated = false;
  const askNext = (): boolean => {
    const candidate = left.shift();
    if (candidate !== undefined) running.push(new Asked(candidate, candidate.request(asked), signal, clock.nowMs()));
    return candidate !== undefined;
  };
  const drop = (one: Asked): void => {
    running.splice(running.indexOf(one), 1);
    void one.close();
  };
  try {
    askNext();
    for (;;) {
      const { audio: first, error } = await firstAudio();
      if (first === undefined) {
        if (error === undefined) return;
        throw error;
      }
      const speaker = first.of;
      for (const other of running.filter((one) => one !== speaker)) {
        // One that was asked later may only have had too little time.
        if (clock.nowMs() - other.askedMs >= watch.firstAudioLateMs(other.candidate)) watch.failed(other.candidate, undefined);
        drop(other);
      }
      watch.firstAudio(speaker.candidate, clock.nowMs() - speaker.askedMs);
      watch.speaks(speaker.candidate, reason);
      const ended = yield* speakOn(first, asked, clock, left.length === 0 || repeated);
      if (ended.type === 'end') return;
      drop(speaker);
      signal.throwIfAborted();
      watch.failed(speaker.candidate, ended.error);
      // What was heard of it was cut short. It is said again whole, but not for ever.
      if (repeated || !askNext()) throw ended.error;
      repeated = true;
      reason = ended.error instanceof StalledError ? 'stalled' : 'failed';
    }
  } finally {
    for (const one of running.splice(0)) void one.close();
  }

  /** When the one that was asked last is late. */
  function lateAtMs(): number {
    const last = running.at(-1)?.candidate;
    return clock.nowMs() + (last === undefined ? 0 : watch.firstAudioLateMs(last));
  }

  /** The first piece of audio of anybody; those that fail are replaced, and one that is late gets another beside it. */
  async function firstAudio(): Promise<{ audio?: Audio; error?: unknown }> {
    let dueMs = lateAtMs();
    for (;;) {
      const piece = await nextOf(running, left.length > 0 ? dueMs - clock.nowMs() : undefined, clock);
      if (piece?.type === 'audio') return { audio: piece };
      if (piece === undefined) {
        reason ??= 'first-audio-late';
        askNext();
        dueMs = lateAtMs();
        continue;
      }
      drop(piece.of);
      signal.throwIfAborted();
      if (piece.type === 'failed') watch.failed(piece.of.candidate, piece.error);
      reason ??= 'failed';
      if (running.length > 0) continue;
      if (!askNext()) return { error: piece.error };
      dueMs = lateAtMs();
    }
  }
}

class StalledError extends Error {}

/** The rest of a sentence after its first audio. @param mayStall whether there is no stand-in to repeat it @returns how it ended */
async function* speakOn(
  first: Audio,
  { format = TELEPHONE_FORMAT }: SynthesisRequest,
  clock: Clock,
  mayStall: boolean,
): AsyncGenerator<Uint8Array, Ending> {
  const speaker = first.of;
  let heardOutMs = clock.nowMs();
  let piece: Piece = first;
  while (piece.type === 'audio') {
    heardOutMs = Math.max(heardOutMs, clock.nowMs()) + durationMs(format, piece.bytes.length);
    yield piece.bytes;
    speaker.take();
    const limitMs = mayStall ? undefined : Math.max(0, heardOutMs - clock.nowMs()) + STALLED_MS;
    const following = await nextOf([speaker], limitMs, clock);
    piece = following ?? { type: 'failed', of: speaker, error: new StalledError('the synthesis stopped in mid-sentence') };
  }
  return piece;
}

/** The first piece of any of these; undefined when none came in time. */
async function nextOf(running: readonly Asked[], limitMs: number | undefined, clock: Clock): Promise<Piece | undefined> {
  const pieces = running.map((one) => one.next);
  if (limitMs === undefined) return await Promise.race(pieces);
  const done = new AbortController();
  const late = sleep(clock, Math.max(0, limitMs), done.signal).catch(() => undefined);
  try {
    return (await Promise.race([...pieces, late])) ?? undefined;
  } finally {
    done.abort();
  }
}
