import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import type { LoadTap } from '../../src/sim/load/load-call.ts';
import type { SpeechTap } from '../../src/sim/load/load-speech.ts';
import { numberIn } from './sounds.ts';
import type { Workload } from './workload.ts';

const FRAME_PCM_BYTES = 320;
/** Send times of the last frames of a call, by frame number. */
const REMEMBERED = 1_024;

/** What one call has sent and got. */
class CallLedger {
  readonly sentAtMs = new Float64Array(REMEMBERED);
  /** Frames sent so far. */
  frames = 0;
  /** Messages got so far. */
  messages = 0;
  spokenSinceMs: number | undefined;
  /** What the last message to the recogniser took, until it is known whether a commit followed it. */
  heardAfterMs: number | undefined;
  /** Bytes of the bot's voice got since its sentence began. */
  got = 0;
}

/** What went in and came out, on one clock; checks that it was the same. */
export class Ledger implements LoadTap, SpeechTap {
  readonly calls: CallLedger[] = [];
  readonly toRecogniserMs: number[] = [];
  readonly toCarrierMs: number[] = [];
  /** There and back, of an echo server: what sockets and this process take by themselves. */
  readonly echoMs: number[] = [];
  wrongToRecogniser = 0;
  wrongToCarrier = 0;
  samplesHeard = 0;
  bytesPlayed = 0;
  measuring = false;
  readonly #work: Workload;
  readonly #echoes: boolean;
  readonly #voice: Buffer;

  /** @param echoes whether the subject sends every frame back, in order */
  constructor(work: Workload, echoes: boolean) {
    this.#work = work;
    this.#echoes = echoes;
    // As calls are linear inside, mu-law's two codes for nothing become one.
    this.#voice = Buffer.from(encodeMulaw(decodeMulaw(Buffer.concat(work.voice.frames))));
  }

  sent(call: number, frame: number, nowMs: number): void {
    const ledger = (this.calls[call] ??= new CallLedger());
    ledger.sentAtMs[frame % REMEMBERED] = nowMs;
    ledger.frames = frame + 1;
  }

  got(call: number, audio: Buffer, dry: boolean): void {
    const ledger = this.calls[call];
    if (ledger === undefined) return;
    if (this.#echoes) {
      const sentAtMs = ledger.sentAtMs[ledger.messages % REMEMBERED]!;
      ledger.messages += 1;
      if (this.measuring) this.echoMs.push(performance.now() - sentAtMs);
      return;
    }
    for (let from = 0; from < audio.length;) {
      const within = ledger.got % this.#voice.length;
      const count = Math.min(this.#voice.length - within, audio.length - from);
      if (audio.compare(this.#voice, within, within + count, from, from + count) !== 0) this.wrongToCarrier += 1;
      ledger.got += count;
      from += count;
    }
    this.bytesPlayed += audio.length;
    if (this.measuring && dry && ledger.spokenSinceMs !== undefined)
      this.toCarrierMs.push(performance.now() - ledger.spokenSinceMs);
    ledger.spokenSinceMs = undefined;
  }

  cleared(call: number): void {
    const ledger = this.calls[call];
    if (ledger !== undefined) ledger.got = 0;
  }

  /** The bots of this benchmark name their call in each sentence. */
  speaks(text: string): boolean {
    const call = /call (\d+)/u.exec(text)?.[1];
    if (call !== undefined) (this.calls[Number(call)] ??= new CallLedger()).spokenSinceMs = performance.now();
    return call !== undefined;
  }

  hear() {
    let call: number | undefined;
    let samples = 0;
    return {
      audio: (pcm: Buffer): void => {
        call ??= numberIn(pcm);
        this.#heard(call, samples, pcm);
        samples += pcm.length / 2;
      },
      // What was sent for a commit had waited for more, and for the turn to end, not for the gateway.
      commit: (): void => {
        const ledger = this.calls[call ?? -1];
        if (ledger !== undefined) ledger.heardAfterMs = undefined;
      },
    };
  }

  #heard(call: number, at: number, pcm: Buffer): void {
    const ledger = this.calls[call];
    if (ledger === undefined) {
      this.wrongToRecogniser += 1;
      return;
    }
    const nowMs = performance.now();
    let position = at * 2;
    for (let from = 0; from < pcm.length;) {
      const within = position % FRAME_PCM_BYTES;
      const count = Math.min(FRAME_PCM_BYTES - within, pcm.length - from);
      const expected = this.#work.pcm(call, Math.floor(position / FRAME_PCM_BYTES));
      if (pcm.compare(expected, within, within + count, from, from + count) !== 0) this.wrongToRecogniser += 1;
      position += count;
      from += count;
    }
    this.samplesHeard += pcm.length / 2;
    const last = Math.ceil(position / FRAME_PCM_BYTES) - 1;
    if (ledger.heardAfterMs !== undefined) this.toRecogniserMs.push(ledger.heardAfterMs);
    const isKnown = this.measuring && last > ledger.frames - REMEMBERED;
    ledger.heardAfterMs = isKnown ? nowMs - ledger.sentAtMs[last % REMEMBERED]! : undefined;
  }
}
