import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { CallRefused } from '../errors.ts';
import { readTwiml } from '../twilio/twiml.ts';
import { signedWebhook } from '../twilio/carrier.ts';
import { LoadCall, LoadNotes, type LoadTap } from './load-call.ts';
import { type CallerScript, callerRound, FRAME_MS } from './load-sounds.ts';

export interface LoadTarget {
  /** The gateway's base address. */
  readonly url: string;
  /** What voice webhooks are signed with; undefined for an echo server, which takes any socket. */
  readonly authToken: string | undefined;
  readonly bot: string;
}

/** What the callers say, unless it is the usual round, and who is told of each frame. */
export interface LoadOptions {
  readonly script?: CallerScript;
  readonly tap?: LoadTap;
}

/** As the carrier itself. */
const ANSWER_WITHIN_MS = 15_000;

/**
 * Many calls as Twilio would deliver them, kept going: who was hung up on calls again. One wheel of 20 slots of a millisecond
 * paces all of them against the clock, so that the generator costs less than what it measures.
 */
export class LoadCarrier implements Disposable {
  readonly notes = new LoadNotes();
  readonly #target: LoadTarget;
  readonly #clock: Clock;
  readonly #script: CallerScript;
  readonly #tap: LoadTap | undefined;
  readonly #calls: LoadCall[] = [];
  #timer: Timer | undefined;
  #startedMs = 0;
  #ticks = 0;
  #calling = false;
  #ended = false;
  /** Why a call that ended could not be placed again. */
  #refusal: Error | undefined;

  constructor(target: LoadTarget, clock: Clock, { script = callerRound(), tap }: LoadOptions = {}) {
    this.#target = target;
    this.#clock = clock;
    this.#script = script;
    this.#tap = tap;
  }

  /** Places calls, one after the other. @throws CallRefused */
  async place(count: number): Promise<void> {
    this.#startedMs = this.#clock.nowMs();
    this.#tick();
    for (let number = 0; number < count && !this.#ended; number += 1) this.#calls[number] = await this.#place(number);
  }

  /** Calls that are live. @throws CallRefused when one that ended could not be placed again */
  get live(): number {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#calls.filter((call) => !call.over).length;
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    this.#timer?.cancel();
    for (const call of this.#calls) call.hangUp();
  }

  #tick(): void {
    const dueTicks = Math.floor(this.#clock.nowMs() - this.#startedMs);
    for (; this.#ticks <= dueTicks; this.#ticks += 1) {
      const dueMs = this.#startedMs + this.#ticks;
      for (let at = this.#ticks % FRAME_MS; at < this.#calls.length; at += FRAME_MS) {
        const nowMs = this.#clock.nowMs();
        if (this.notes.measuring) this.notes.lateMs.push(nowMs - dueMs);
        this.#calls[at]?.sendFrame(nowMs);
      }
    }
    if (!this.#calling && this.#calls.some((call) => call.over)) void this.#callAgain();
    this.#timer = this.#clock.after(1, () => this.#tick());
  }

  async #callAgain(): Promise<void> {
    this.#calling = true;
    try {
      for (const [number, call] of this.#calls.entries()) {
        if (this.#ended || !call.over) continue;
        this.#calls[number] = await this.#place(number);
      }
    } catch (error) {
      this.#refusal = error instanceof Error ? error : new CallRefused(String(error), []);
      return;
    }
    this.#calling = false;
  }

  async #place(number: number): Promise<LoadCall> {
    const callSid = `CA${randomBytes(16).toString('hex')}`;
    const url = await this.#streamOf(callSid, number);
    const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true, handshakeTimeout: ANSWER_WITHIN_MS });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const call = new LoadCall(socket, callSid, number, {
      script: this.#script,
      notes: this.notes,
      clock: this.#clock,
      tap: this.#tap,
    });
    if (this.#ended) call.hangUp();
    return call;
  }

  /** The answer document's stream. */
  async #streamOf(callSid: string, number: number): Promise<string> {
    const { url, authToken, bot } = this.#target;
    if (authToken === undefined) return url;
    const address = `${url}/carriers/twilio/voice/${encodeURIComponent(bot)}`;
    const call = { callSid, accountSid: `AC${'0'.repeat(32)}`, from: numberOf(number), to: '+15550100002' };
    const response = await fetch(address, {
      ...signedWebhook(address, authToken, call, { CallStatus: 'ringing' }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const document = await response.text();
    const verbs = response.ok ? readTwiml(document) : [];
    const stream = verbs.find((verb) => verb.verb === 'stream');
    if (stream !== undefined) return stream.url;
    const said = verbs.flatMap((verb) => (verb.verb === 'say' ? [verb.text] : []));
    throw new CallRefused(`the voice webhook gave no stream (status ${response.status}): ${said.join(' ')}`, said);
  }
}

function numberOf(call: number): string {
  return `+1555${String(call).padStart(7, '0')}`;
}
