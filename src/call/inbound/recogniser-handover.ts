import { NARROW_RATE_HZ } from '../../audio/format.ts';
import { SampleBatch } from '../../audio/samples.ts';
import { RECOGNITION_BATCH_MS, type Recogniser, type RecognitionEvent, type RecognitionSession } from '../../speech/port.ts';

/** A slot for one more recogniser session than the call has reserved. */
export interface SpareSlot {
  release(): void;
}

interface ListeningServices {
  readonly recogniser: Recogniser;
  /** A slot beside the call's own; undefined when none is free. */
  readonly spareRecognition: () => SpareSlot | undefined;
}

/** Discards the caller's audio while only an agent hears it. */
export const NO_RECOGNISER = { send: (): void => undefined };

/** A session being opened to replace the running one. */
interface Successor {
  session: RecognitionSession | undefined;
  readonly slot: SpareSlot;
}

/**
 * The running recogniser session. After a replacement, such as a change of language, the old session is ignored, and segment numbers continue, so
 * that the turn machine sees one sequence per call.
 */
export class RecogniserHandover {
  readonly #recogniser: Recogniser;
  readonly #spareSlot: () => SpareSlot | undefined;
  readonly #listener: (event: RecognitionEvent) => void;
  #rateHz = NARROW_RATE_HZ;
  #batch = batchOf(NARROW_RATE_HZ);
  #language = '';
  #session: RecognitionSession | undefined;
  #successor: Successor | undefined;
  #phrases: readonly string[] = [];
  /** Identity of the running session, known before `open` has returned it. */
  #mine: unknown;
  /** Number of the running session's segment 0. */
  #base = 0;
  #next = 0;

  constructor({ recogniser, spareRecognition }: ListeningServices, listener: (event: RecognitionEvent) => void) {
    this.#recogniser = recogniser;
    this.#spareSlot = spareRecognition;
    this.#listener = listener;
  }

  /** What the running session was opened with: a language, or `auto`. */
  get language(): string {
    return this.#language;
  }

  /**
   * Opens a session at once, in place of the running one.
   * @param rateHz of what will be sent; that of the running session where absent
   */
  open(language: string, rateHz = this.#rateHz): void {
    if (rateHz !== this.#rateHz) this.#batch = batchOf(rateHz);
    this.#rateHz = rateHz;
    this.#dropSuccessor();
    this.#language = language;
    this.#phrases = [];
    const before = this.#session;
    const mine = {};
    this.#takeOver(mine);
    // An event may arrive before `open` has returned.
    this.#session = this.#recogniser.open({ language, sampleRateHz: rateHz }, (event) => this.#hear(mine, event));
    before?.abort();
  }

  /**
   * Biases recognition toward these phrases. Where a session takes them only when it opens, a second one is opened and takes over once ready, between
   * utterances. Without a spare slot nothing changes.
   */
  listenFor(hints: readonly string[], nothingIsSaid: () => boolean): void {
    const phrases = hints.slice(0, this.#recogniser.capabilities.mostHints);
    if (this.#session === undefined || phrases.join('\n') === this.#phrases.join('\n')) return;
    const { listenFor } = this.#session;
    if (listenFor !== undefined) {
      this.#phrases = phrases;
      listenFor.call(this.#session, phrases);
      return;
    }
    this.#dropSuccessor();
    const slot = this.#spareSlot();
    if (slot === undefined) return;
    const successor: Successor = { session: undefined, slot };
    this.#successor = successor;
    const options = { language: this.#language, sampleRateHz: this.#rateHz, boostPhrases: phrases };
    successor.session = this.#recogniser.open(options, (event) => {
      if (successor !== this.#successor) {
        this.#hear(successor, event);
        return;
      }
      if (event.type === 'ready' && nothingIsSaid()) this.#succeed(successor, phrases);
      else if (event.type === 'ready' || event.type === 'closed') this.#dropSuccessor();
    });
  }

  /** @param pcm 16-bit mono samples at the call's rate */
  send(pcm: Int16Array): void {
    for (let from = 0; from < pcm.length;) {
      from += this.#batch.add(pcm, from);
      if (this.#batch.room === 0) this.#flush();
    }
  }

  commit(): void {
    this.#flush();
    this.#session?.commit();
  }

  close(): void {
    this.#dropSuccessor();
    this.#session?.abort();
  }

  #flush(): void {
    const pcm = this.#batch.take();
    if (pcm.length > 0) this.#session?.send(pcm);
  }

  #succeed(successor: Successor, phrases: readonly string[]): void {
    const before = this.#session;
    this.#successor = undefined;
    this.#phrases = phrases;
    this.#takeOver(successor);
    this.#session = successor.session;
    before?.abort();
    // The reserved slot passes to the successor; the spare one belonged to the closed predecessor.
    successor.slot.release();
  }

  #dropSuccessor(): void {
    const successor = this.#successor;
    this.#successor = undefined;
    successor?.session?.abort();
    successor?.slot.release();
  }

  #takeOver(mine: unknown): void {
    this.#mine = mine;
    this.#base = this.#next;
  }

  #hear(mine: unknown, event: RecognitionEvent): void {
    if (mine !== this.#mine) return;
    if (!('seg' in event)) {
      this.#listener(event);
      return;
    }
    const seg = this.#base + event.seg;
    this.#next = Math.max(this.#next, seg + 1);
    this.#listener({ ...event, seg });
  }
}

function batchOf(rateHz: number): SampleBatch {
  return new SampleBatch((RECOGNITION_BATCH_MS * rateHz) / 1000);
}
