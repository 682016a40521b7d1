import type { AudioFormat } from '../audio/format.ts';
import { Resampler } from '../audio/resample.ts';
import type { Attachment, MediaEvent, MediaTrack } from '../carriers/port.ts';
import type { AllowedTarget } from '../config/allowed-target.ts';

/** Inbound and outbound rates of a call. */
export interface LineRates {
  readonly rateHz: number;
  readonly sentRateHz: number;
}

/** @returns a leg at these rates: the given one if it has them */
export function atRates(leg: Attachment, rates: LineRates): Attachment {
  const isSame = leg.rateHz === rates.rateHz && leg.speechFormat.rateHz === rates.sentRateHz;
  return isSame ? leg : new ResampledAttachment(leg, rates);
}

/**
 * Adapts a leg with other rates than its call, as after a redirect from a telephone to a wideband client: resampled both ways, 2 or 4 ms late, whole
 * frames for whole frames.
 */
class ResampledAttachment implements Attachment {
  readonly id: string;
  readonly carrier: string;
  readonly started: Attachment['started'];
  readonly capabilities: Attachment['capabilities'];
  readonly rateHz: number;
  readonly speechFormat: AudioFormat;
  readonly sendDigits?: (digits: string) => void;
  readonly sendTransfer?: (to: AllowedTarget) => void;
  readonly #leg: Attachment;
  #sent: Resampler | undefined;

  constructor(leg: Attachment, { rateHz, sentRateHz }: LineRates) {
    const { id, carrier, started, capabilities, speechFormat } = leg;
    this.id = id;
    this.carrier = carrier;
    this.started = started;
    this.capabilities = capabilities;
    this.rateHz = rateHz;
    this.speechFormat = speechFormat.rateHz === sentRateHz ? speechFormat : { encoding: 'pcm16', rateHz: sentRateHz };
    if (leg.sendDigits !== undefined) this.sendDigits = (digits) => leg.sendDigits?.(digits);
    if (leg.sendTransfer !== undefined) this.sendTransfer = (to) => leg.sendTransfer?.(to);
    this.#leg = leg;
    this.#cut();
  }

  get bufferedBytes(): number {
    return this.#leg.bufferedBytes;
  }

  listen(listener: (event: MediaEvent) => void): void {
    const fromHz = this.#leg.rateHz;
    if (fromHz === this.rateHz) return this.#leg.listen(listener);
    // The two sides of a call between people are separate streams.
    const lines = new Map<MediaTrack, Resampler>();
    this.#leg.listen((event) => {
      if (event.type !== 'audio') return listener(event);
      const { track = 'caller' } = event;
      const line = lines.get(track) ?? Resampler.forLine(fromHz, this.rateHz);
      lines.set(track, line);
      listener({ ...event, pcm: line.process(event.pcm) });
    });
  }

  sendAudio(pcm: Int16Array): void {
    this.#leg.sendAudio(this.#sent?.process(pcm) ?? pcm);
  }

  sendMark(name: string): void {
    this.#leg.sendMark(name);
  }

  sendClear(): void {
    this.#cut();
    this.#leg.sendClear();
  }

  close(reason: string): void {
    this.#leg.close(reason);
  }

  /** The next audio does not continue the last. */
  #cut(): void {
    const [fromHz, toHz] = [this.speechFormat.rateHz, this.#leg.speechFormat.rateHz];
    this.#sent = fromHz === toHz ? undefined : Resampler.forLine(fromHz, toHz);
  }
}
