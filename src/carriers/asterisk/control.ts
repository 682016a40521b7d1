import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { tokenOf, wholeSeconds } from '../dialling.ts';
import { CarrierControlError } from '../errors.ts';
import type { CallControl, Dialling } from '../port.ts';
import { Ari, type AriAccount, channelProgress } from './ari.ts';

/** Contexts of the dialplan that a call is sent to; `examples/asterisk/extensions_offhook.conf` has them. */
const CONTEXTS = {
  dial: 'offhook-dial',
  answered: 'offhook-answered',
  transfer: 'offhook-transfer',
  join: 'offhook-join',
  control: 'offhook-control',
};
/** Longest extension of a dialplan (AST_MAX_EXTENSION). */
const MOST_EXTENSION = 79;
/** Only characters without meaning to a dialplan application. */
const NUMBER = /^\+?[0-9]{1,32}$/u;
const EXTENSION = /^(?:\+?[0-9]{1,32}|sips?:[\w.+%~@:;=-]+)$/iu;
/** Longest time for the dialplan to take a call over; it needs a few milliseconds. */
const TAKEN_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 50;
/** Added to the ringing time that the dialplan itself limits. */
const MORE_RINGING_S = 10;

/** How the dialplan connects a dialled call to us when it is answered; the name of an extension in `offhook-answered`. */
export type MediaWay = 'websocket' | 'audiosocket';

/**
 * Acts on calls of an Asterisk over ARI. ARI's own requests act only on channels in a Stasis application, which a call that the dialplan connected to us is
 * not: what they cannot do is done by applications of the dialplan, each on a short-lived Local channel beside the call.
 */
export class AsteriskControl implements CallControl {
  readonly flowGoesOn = true;
  readonly dialling: Dialling;
  readonly #ari: Ari;

  constructor(account: AriAccount, way: MediaWay, clock: Clock) {
    this.#ari = new Ari(account, clock);
    this.dialling = asteriskDialling(this.#ari, way);
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#ari.end(carrierCallId, signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    if (!EXTENSION.test(to) || to.length > MOST_EXTENSION)
      throw refused(`a number, or a sip: address of at most ${MOST_EXTENSION} characters, can be called`);
    await this.#redirect(carrierCallId, CONTEXTS.transfer, to, signal);
  }

  /** Asterisk too waits half a second for a `w`. */
  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    await this.#alive(carrierCallId, signal);
    await this.#beside('keys', { OFFHOOK_CHANNEL: carrierCallId, OFFHOOK_DIGITS: digits }, signal);
  }

  /** The other call fetches this one, wherever it is in the dialplan. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#alive(carrierCallId, signal);
    await this.#redirect(otherCarrierCallId, CONTEXTS.join, carrierCallId, signal);
    const both = [carrierCallId, otherCarrierCallId];
    const isJoined = await this.#within(async () => {
      return (await this.#ari.bridges(signal)).some(({ channels }) => both.every((id) => channels.includes(id)));
    }, signal);
    if (!isJoined) throw new CarrierControlError('Asterisk did not bridge the two calls', { retryable: false });
  }

  /** Sends a call elsewhere in the dialplan: its media stream ends. */
  async #redirect(channelId: string, context: string, extension: string, signal: AbortSignal): Promise<void> {
    await this.#alive(channelId, signal);
    const variables = { OFFHOOK_CHANNEL: channelId, OFFHOOK_CONTEXT: context, OFFHOOK_EXTEN: extension };
    await this.#beside('redirect', variables, signal);
    const isThere = await this.#within(async () => {
      const found = await this.#ari.channel(channelId, signal);
      // The new place may have ended the call at once, which counts as not taken.
      return found === undefined || found.dialplan.context === context;
    }, signal);
    if (!isThere) {
      const message = `Asterisk did not send the call to the context ${context}: does its dialplan include extensions_offhook.conf?`;
      throw new CarrierControlError(message, { retryable: false });
    }
  }

  /** Runs one extension of the control context on a separate channel, which ends with it. */
  async #beside(extension: string, variables: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const { control: context } = CONTEXTS;
    await this.#ari.create(
      { endpoint: `Local/${extension}@${context}`, context, extension: 'over', timeout: 60, variables },
      signal,
    );
  }

  async #alive(channelId: string, signal: AbortSignal): Promise<void> {
    if ((await this.#ari.channel(channelId, signal)) === undefined) throw refused('the call is over at Asterisk');
  }

  async #within(isSo: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#ari;
    const untilMs = clock.nowMs() + TAKEN_WITHIN_MS;
    while (!(await isSo())) {
      if (clock.nowMs() >= untilMs) return false;
      await sleep(clock, LOOK_EVERY_MS, signal);
    }
    return true;
  }
}

/**
 * Places calls by a Local channel under our own call id. One half dials in `offhook-dial`, where the dialplan chooses the trunk and reports the
 * result; the other half goes to `offhook-answered` on an answer, and connects to us.
 */
function asteriskDialling(ari: Ari, way: MediaWay): Dialling {
  return {
    // Asterisk itself has no limit; trunks have.
    capabilities: { callsPerSecond: 10, detectsMachines: false, canFind: true },
    async dial({ callId, from, to, streamUrl, statusUrl, ringTimeoutMs, maxDurationMs }, signal) {
      if (!NUMBER.test(to)) throw refused('only a number can be called');
      const ringS = wholeSeconds(ringTimeoutMs);
      const channel = {
        // Without /n the Local channel, and the call's id with it, would vanish on the answer.
        endpoint: `Local/${to}@${CONTEXTS.dial}/n`,
        context: CONTEXTS.answered,
        extension: way,
        callerId: from,
        timeout: ringS + MORE_RINGING_S,
        channelId: callId,
        otherChannelId: `${callId}-dial`,
        variables: {
          OFFHOOK_CALL: callId,
          OFFHOOK_TOKEN: tokenOf(streamUrl),
          OFFHOOK_STATUS_URL: statusUrl,
          OFFHOOK_RING_SECONDS: String(ringS),
          OFFHOOK_MOST_SECONDS: String(wholeSeconds(maxDurationMs)),
        },
      };
      return { carrierCallId: await ari.dial(channel, signal) };
    },
    /** An ended call leaves no trace; its report tells how it ended. */
    async find({ callId }, _askedAtMs, signal) {
      const found = await ari.channel(callId, signal);
      if (found === undefined) return { found: 'unknown' };
      return { found: 'placed', carrierCallId: callId, progress: channelProgress(found) };
    },
    /** The dialplan reports before its channel ends, so a vanished call without a report will not be reported later. */
    async progressOf(carrierCallId, signal) {
      const found = await ari.channel(carrierCallId, signal);
      return found === undefined ? { state: 'ended', outcome: 'failed', cause: 'gone' } : channelProgress(found);
    },
  };
}

function refused(message: string): CarrierControlError {
  return new CarrierControlError(message, { retryable: false, surelyNotDone: true });
}
