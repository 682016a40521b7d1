import { sleep } from '../../kernel/waiting.ts';
import { dtmf } from '../../audio/tone.ts';
import { joinSamples } from '../../audio/samples.ts';
import type { Attachment, CallControl } from '../../carriers/port.ts';
import type { CallLine } from '../call-line.ts';
import type { DialogAction, DialogTurn } from '../../dialog/port.ts';
import type { OutboundAudio } from '../outbound/outbound-audio.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { type AllowedTarget, checkTransfer, type TransferCheck } from '../../config/allowed-target.ts';
import type { DestinationsOf } from '../../config/destinations.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import type { CallIdentity } from '../log/call-record.ts';

/** What a call needs to act at its carrier. */
export interface CarrierServices {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Acts on calls at a carrier; undefined where its account is not configured. */
  readonly controlOf: (carrier: string) => CallControl | undefined;
  /** Which numbers callers may be connected to. */
  readonly destinationsOf: DestinationsOf;
}

/** Rings agents for the caller. */
export interface AgentTransfers {
  /** The agent being rung now. */
  readonly standing: DialogTurn['transfer'];
  /** The transfer follows the running reply. */
  prepare(action: DialogAction & { readonly type: 'transfer' }): void;
  /** The reply was heard: rings the agent. */
  start(to: string): void;
  cancel(): void;
  /** Starts or stops the hold sound. */
  hold(on: boolean): void;
}

/** Length of one tone and of the pause after it, which telephone systems detect reliably. */
const TONE_MS = 120;
const PAUSE_MS = 80;
/** The pause that a `w` among the keys stands for. */
const WAIT_MS = 500;
/** A carrier that presses keys itself takes the call away and brings it back; time allowed for each key, and for the round trip. */
const REATTACH_KEY_MS = 1_000;
const REATTACH_WAY_MS = 10_000;
/** A carrier given a transfer on its stream ends that stream within two seconds, and says nothing where it fails. */
const STREAM_END_MS = 8_000;

/** HTTP statuses with which carriers refuse to end a call that is already over. */
const GONE: ReadonlySet<number> = new Set([400, 404, 409, 410, 422]);

/** Acts on a call at its carrier: ends it, transfers it, presses keys. */
export class CarrierControl {
  readonly #line: CallLine;
  readonly #services: CarrierServices;
  readonly #ending = new AbortController();
  /** Keys to press once the reply was heard. */
  #keys = '';
  #keysUntilMs = Number.NEGATIVE_INFINITY;
  /** Ends the wait for a call that the carrier took away to press keys. */
  #back = new AbortController();
  #keysSent = 0;
  #isEnded = false;

  constructor(line: CallLine, services: CarrierServices) {
    this.#line = line;
    this.#services = services;
  }

  /** How long a lost socket may stay away because the carrier is pressing keys; 0 otherwise. */
  get awayMs(): number {
    return Math.max(0, this.#keysUntilMs - this.#services.clock.nowMs());
  }

  /** The socket is back: the keys were pressed. */
  reattached(): void {
    this.#keysUntilMs = Number.NEGATIVE_INFINITY;
    this.#back.abort();
  }

  /** @param digits appended to those already waiting */
  pressAfterThis(digits: string): void {
    this.#keys += digits;
  }

  /** Presses keys now. Never rejects. */
  pressNow(digits: string, outbound: OutboundAudio): void {
    this.pressAfterThis(digits);
    void this.pressKeys(outbound);
  }

  /** Drops the keys that were to follow this reply. */
  forgetKeys(): void {
    this.#keys = '';
  }

  /** Whether a call goes on at its carrier after its media stream ended, until it is ended there. */
  get outlivesStream(): boolean {
    return this.#control()?.outlivesStream === true;
  }

  /**
   * Ends the call at its carrier, once: a call without a socket may otherwise go on there, or at a bridge on the way, with the caller in silence.
   * Never throws: most such calls are over already.
   * @param stream `stream-closed`: we closed it, and the operator's own flow after the stream is left to end the call
   */
  endCall(stream: 'stream-closed' | 'no-stream' = 'no-stream'): void {
    const control = this.#control();
    if (this.#isEnded || control === undefined || (stream === 'stream-closed' && control.flowGoesOn === true)) return;
    this.#isEnded = true;
    const { callId, inbound } = this.#line.identity;
    control.hangUp(this.#carrierCallId, new AbortController().signal).catch((error: unknown) => {
      const isOver = GONE.has(error instanceof OffhookError ? Number(error.facts['status']) : Number.NaN);
      const level = isOver ? 'info' : 'warn';
      this.#services.logger[level]({ callId, carrier: inbound.carrier, error }, 'ending a call at its carrier failed');
    });
  }

  /** Transfers the caller; the carrier then ends the stream. */
  async transfer(to: string): Promise<void> {
    const transfer = this.#line.log.transfers.begin({ to, kind: 'cold' });
    const checked = checkTransfer(to, transferCheckOf(this.#line.identity, this.#services, false));
    try {
      if ('refusal' in checked) throw new Error(checked.detail);
      await this.passOn(checked.target);
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      this.#line.log.actFailed('transfer', error);
      const cause = 'refusal' in checked ? checked.refusal : causeOf(error);
      transfer.over('failed', cause);
      this.#line.emit({ type: 'transfer-refused', to, cause });
      return;
    }
    if (this.#ending.signal.aborted) return;
    transfer.over('answered');
    this.#line.emit({ type: 'transferred' });
  }

  /** Whether this carrier can transfer a caller. */
  get canPassOn(): boolean {
    return this.#line.attachment?.capabilities.transfer === 'message' || this.#control() !== undefined;
  }

  /**
   * Has the carrier transfer the caller, by the means this carrier has.
   * @returns when the carrier has accepted the order; where that is a message on the stream, the end of the call aborts the wait
   * @throws what the carrier's control throws; Error where the carrier cannot, or did not end the stream
   */
  async passOn(to: AllowedTarget): Promise<void> {
    const { signal } = this.#ending;
    const { attachment } = this.#line;
    if (attachment?.capabilities.transfer !== 'message') return this.#requiredControl().transfer(this.#carrierCallId, to, signal);
    if (attachment.sendTransfer === undefined)
      throw new Error(`the carrier ${attachment.carrier} takes no transfer on its socket`);
    attachment.sendTransfer(to);
    await sleep(this.#services.clock, STREAM_END_MS, signal);
    throw new Error(`the carrier ${attachment.carrier} did not end the stream of a caller that it was told to connect`);
  }

  /**
   * Presses the keys of a reply that was heard, by the means this carrier has. Keys handed over are never sent again, as the far end might get them
   * twice. Never rejects; a failure is in the call log, and the conversation goes on.
   * @returns when they were pressed, or can no longer be: a carrier that takes the call away for it may never do so
   */
  async pressKeys(outbound: OutboundAudio): Promise<void> {
    const digits = this.#keys;
    this.#keys = '';
    if (digits === '') return;
    try {
      await this.#press(digits, this.#line.attachment, outbound);
    } catch (error) {
      this.reattached();
      if (!this.#ending.signal.aborted) this.#line.log.actFailed('digits', error);
      return;
    }
    this.#line.log.digitsSent(digits.replaceAll('w', '').length);
    await sleep(this.#services.clock, this.awayMs, AbortSignal.any([this.#back.signal, this.#ending.signal])).catch(
      () => undefined,
    );
  }

  /** The call is over: aborts pending requests. */
  close(): void {
    this.#ending.abort(new Error('the call is over'));
  }

  async #press(digits: string, attachment: Attachment | undefined, outbound: OutboundAudio): Promise<void> {
    if (attachment === undefined) throw new Error('the call has no socket now');
    const { signal } = this.#ending;
    switch (attachment.capabilities.dtmfOut) {
      case 'message':
        if (attachment.sendDigits === undefined) throw new Error(`the carrier ${attachment.carrier} takes no keys on its socket`);
        for (const part of digits.split(/(w)/u).filter((piece) => piece !== '')) {
          if (part === 'w') await sleep(this.#services.clock, WAIT_MS, signal);
          else attachment.sendDigits(part);
        }
        return;
      case 'reattach':
        this.#keysUntilMs = this.#services.clock.nowMs() + digits.length * REATTACH_KEY_MS + REATTACH_WAY_MS;
        this.#back = new AbortController();
        return this.#requiredControl().sendDigits(this.#carrierCallId, digits, signal);
      case 'rest':
        return this.#requiredControl().sendDigits(this.#carrierCallId, digits, signal);
      case 'inband': {
        const unitId = `keys-${(this.#keysSent += 1)}`;
        const { clock } = this.#services;
        outbound.begin({ unitId, turnIndex: this.#line.log.conversation.current, text: '' });
        outbound.push(unitId, tones(digits, attachment.speechFormat.rateHz), clock.nowMs());
        outbound.end(unitId, clock.nowMs());
        return sleep(clock, keysMs(digits), signal);
      }
      case 'none':
        throw new Error(`the carrier ${attachment.carrier} cannot press keys`);
    }
  }

  get #carrierCallId(): string {
    return this.#line.identity.inbound.carrierCallId;
  }

  #control(): CallControl | undefined {
    return this.#services.controlOf(this.#line.identity.inbound.carrier);
  }

  #requiredControl(): CallControl {
    const control = this.#control();
    if (control === undefined) throw new Error(`no account of the carrier ${this.#line.identity.inbound.carrier} is configured`);
    return control;
  }
}

/** Decides where this call may be transferred. */
export function transferCheckOf(
  { bot, inbound, tenantId }: CallIdentity,
  { destinationsOf }: Pick<CarrierServices, 'destinationsOf'>,
  isWarm: boolean,
): TransferCheck {
  return { bot, isWarm, destinations: destinationsOf(tenantId), line: partiesOf(inbound).ours };
}

/** The carrier's own code for a refusal, where it gives one. */
export function causeOf(error: unknown): string | undefined {
  if (!(error instanceof OffhookError)) return undefined;
  const { carrierCode, status } = error.facts;
  if (carrierCode !== undefined) return String(carrierCode);
  return status === undefined ? undefined : `http-${String(status)}`;
}

function keysMs(digits: string): number {
  return Array.from(digits).reduce((sum, key) => sum + (key === 'w' ? WAIT_MS : TONE_MS + PAUSE_MS), 0);
}

/** The keys as DTMF tones. */
function tones(digits: string, rateHz: number): Int16Array {
  const parts = Array.from(digits, (key) => {
    const silence = (ms: number): Int16Array => new Int16Array((ms * rateHz) / 1000);
    return key === 'w' ? [silence(WAIT_MS)] : [dtmf(key, TONE_MS, rateHz), silence(PAUSE_MS)];
  }).flat();
  return joinSamples(parts);
}
