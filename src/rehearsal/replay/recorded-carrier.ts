import { encodeAudio } from '../../audio/codec.ts';
import { type AudioFormat, formatOf } from '../../audio/format.ts';
import type { Attachment, CallControl, MediaEvent } from '../../carriers/port.ts';
import type { AllowedTarget } from '../../config/allowed-target.ts';
import type { DecisionLog } from './decision.ts';
import type { FixtureDraft } from './fixture-draft.ts';
import { recordAnswer, type StimulusGate } from './stimulus-gate.ts';

/** When a carrier that plays at once has played what it was sent, by our clock. */
export class CarrierEnd {
  readonly #samplesPerMs: number;
  #endMs = Number.NEGATIVE_INFINITY;

  /** @param rateHz of the sent audio */
  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000;
  }

  /** When everything sent so far will have been played. */
  at(nowMs: number): number {
    return Math.max(nowMs, this.#endMs);
  }

  sent(samples: number, nowMs: number): void {
    this.#endMs = this.at(nowMs) + samples / this.#samplesPerMs;
  }

  cleared(nowMs: number): void {
    this.#endMs = nowMs;
  }
}

/** Format of a leg's recorded audio: its own law where that is lossless and smaller, else as the call hears it. */
export function keptFormat({ started, rateHz }: Pick<Attachment, 'started' | 'rateHz'>): AudioFormat {
  return started.inbound.rateHz === rateHz ? formatOf(started.inbound) : { encoding: 'pcm16', rateHz };
}

/** A carrier socket that passes its messages through the gate and records them, with the causes of its marks. */
export class RecordedAttachment implements Attachment {
  readonly #inner: Attachment;
  readonly #number: number;
  readonly #gate: StimulusGate;
  readonly #draft: FixtureDraft;
  readonly #end: CarrierEnd;
  /** Outstanding marks, oldest first, with the time that counts for each. */
  readonly #marks: { readonly name: string; by: 'played' | 'clear'; fromMs: number }[] = [];

  constructor(inner: Attachment, number: number, gate: StimulusGate, draft: FixtureDraft) {
    this.#inner = inner;
    this.#number = number;
    this.#gate = gate;
    this.#draft = draft;
    this.#end = new CarrierEnd(inner.speechFormat.rateHz);
  }

  get id(): string {
    return this.#inner.id;
  }

  get carrier(): string {
    return this.#inner.carrier;
  }

  get started(): Attachment['started'] {
    return this.#inner.started;
  }

  get capabilities(): Attachment['capabilities'] {
    return this.#inner.capabilities;
  }

  get rateHz(): number {
    return this.#inner.rateHz;
  }

  get speechFormat(): AudioFormat {
    return this.#inner.speechFormat;
  }

  get bufferedBytes(): number {
    return this.#inner.bufferedBytes;
  }

  listen(listener: (event: MediaEvent) => void): void {
    this.#inner.listen((given) => {
      // Copied, as the audio is only lent and may have to wait.
      const event = given.type === 'audio' ? { ...given, pcm: Int16Array.from(given.pcm) } : given;
      this.#gate.let(() => {
        this.#write(event);
        if (event.type === 'audio') this.#draft.whileHearing(keptFormat(this).encoding, event.pcm, () => listener(event));
        else listener(event);
      });
    });
  }

  sendAudio(pcm: Int16Array): void {
    this.#end.sent(pcm.length, this.#gate.nowMs);
    this.#inner.sendAudio(pcm);
  }

  sendMark(name: string): void {
    this.#marks.push({ name, by: 'played', fromMs: this.#end.at(this.#gate.nowMs) });
    this.#inner.sendMark(name);
  }

  sendClear(): void {
    const { nowMs } = this.#gate;
    this.#end.cleared(nowMs);
    for (const mark of this.#marks) Object.assign(mark, { by: 'clear', fromMs: nowMs });
    this.#inner.sendClear();
  }

  sendDigits(digits: string): void {
    this.#inner.sendDigits?.(digits);
  }

  sendTransfer(to: AllowedTarget): void {
    this.#inner.sendTransfer?.(to);
  }

  close(reason: string): void {
    this.#inner.close(reason);
  }

  /** Marks that never returned, named as in the fixture. */
  get lostMarks(): readonly string[] {
    return this.#marks.map(({ name }) => `${this.#number}:${name}`);
  }

  #write(event: MediaEvent): void {
    const { t } = this.#draft;
    const a = this.#number;
    switch (event.type) {
      case 'audio': {
        const audio = encodeAudio(keptFormat(this).encoding, event.pcm);
        this.#draft.add({ k: 'audio', t, a, n: audio.length, ts: event.timestampMs ?? null });
        this.#draft.keepAudio('caller', audio);
        return;
      }
      case 'digit':
        this.#draft.add({ k: 'digit', t, a, digit: event.digit });
        return;
      case 'mark': {
        const found = this.#marks.findIndex(({ name }) => name === event.name);
        const [mark] = found === -1 ? [] : this.#marks.splice(found, 1);
        const lagMs = mark === undefined ? 0 : this.#gate.nowMs - mark.fromMs;
        this.#draft.add({ k: 'mark', t, a, name: event.name, by: mark?.by ?? 'played', lagMs });
        return;
      }
      case 'stopped':
        this.#draft.add({ k: 'stopped', t, a, reason: event.reason });
        return;
      case 'closed':
        this.#draft.add({ k: 'closed', t, a, code: event.code, reason: event.reason });
        return;
      case 'connected':
      case 'started':
      case 'rejected':
        // These have no effect in a call.
        return;
    }
  }
}

/** A carrier control that passes results through the gate and records them. */
export function recordControl(
  control: CallControl,
  gate: StimulusGate,
  draft: FixtureDraft,
  decisions: DecisionLog,
): CallControl {
  const act = async (what: string, run: () => Promise<void>, signal: AbortSignal): Promise<void> => {
    const number = draft.acts.push({ what }) - 1;
    decisions.note('carrier', what);
    const notes = draft.answerNotes<never>(
      () => undefined,
      (timing, failure) => draft.add({ k: 'acted', t: draft.t, ...timing, act: number, failure }),
      () => undefined,
    );
    for await (const _ of recordAnswer(outcomeOf(run), signal, gate, notes));
  };
  const { outlivesStream, flowGoesOn } = control;
  return {
    ...(outlivesStream && { outlivesStream }),
    ...(flowGoesOn && { flowGoesOn }),
    hangUp: (call, signal) => act('hang up', () => control.hangUp(call, signal), signal),
    transfer: (call, to, signal) => act('transfer', () => control.transfer(call, to, signal), signal),
    sendDigits: (call, digits, signal) => act('press keys', () => control.sendDigits(call, digits, signal), signal),
    // Recording ends with the first agent's leg.
    ...(control.dialling === undefined ? {} : { dialling: control.dialling }),
    ...(control.join === undefined ? {} : { join: control.join.bind(control) }),
  };
}

/** An answer without parts. */
// oxlint-disable-next-line require-yield -- it is all end
async function* outcomeOf(run: () => Promise<void>): AsyncGenerator<never> {
  await run();
}
