import type { Attachment, CallControl, DialEnd, DialOrder, MediaEvent } from '../../carriers/port.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import type { Timer } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { causeOf } from '../control/carrier-control.ts';
import type { TransferOutcome } from '../turn/farewell-state.ts';
import { type AgentLegServices, AgentLine, type AgentOrder } from './agent-line.ts';
import type { LegListener, LegReport } from './agent-legs.ts';

/** Events of an agent's leg. `over` comes once, as the last. */
export interface AgentListener {
  placed(carrierCallId: string): void;
  ringing(): void;
  /** The phone was answered. */
  answered(): void;
  /** The agent pressed the key. */
  accepted(): void;
  /** About 20 ms of the agent, who has taken the call. @param pcm at the attachment's rate; not kept */
  audio(pcm: Int16Array): void;
  over(outcome: Exclude<TransferOutcome, 'answered'>, cause: string | undefined): void;
  /** The agent hung up after taking the call, or their line was lost. */
  gone(how: 'hung-up' | 'lost'): void;
}

/** Carriers have shorter limits of their own. */
const ORDER_WITHIN_MS = 30_000;
/** Time beside ringing: queueing at the carrier, and the way to the phone. */
const BESIDE_RINGING_MS = 15_000;
/** Longest time for the brief. */
const MOST_BRIEF_MS = 90_000;
/** Most lookups of a call whose order got no answer, each after a wait; also most attempts of a failed hang-up. */
const LOOKS = 12;
const LOOK_MS = 5_000;
const OUTCOMES: Readonly<Record<DialEnd, Exclude<TransferOutcome, 'answered'>>> = {
  completed: 'declined',
  busy: 'busy',
  'no-answer': 'no-answer',
  rejected: 'declined',
  failed: 'failed',
  cancelled: 'no-answer',
};

/** The agent's leg of a warm transfer: rings, says the brief, and waits for the key. It always ends at its carrier. */
export class AgentLeg implements LegListener {
  readonly #order: AgentOrder;
  readonly #services: AgentLegServices;
  readonly #listener: AgentListener;
  #carrierCallId: string | undefined;
  #askedAtMs: number | undefined;
  #state: 'dialling' | 'briefing' | 'accepted' | 'over' = 'dialling';
  #line: AgentLine | undefined;
  /** The agent had taken the call, and their stream is lost. */
  isLost = false;
  #timer: Timer | undefined;

  constructor(order: AgentOrder, services: AgentLegServices, listener: AgentListener) {
    this.#order = order;
    this.#services = services;
    this.#listener = listener;
    this.#limit(order.ringMs + BESIDE_RINGING_MS, undefined);
    services.legs.whileEnding(this.#dial());
  }

  get attachment(): Attachment | undefined {
    return this.#line?.attachment;
  }

  get carrierCallId(): string | undefined {
    return this.#carrierCallId;
  }

  /** Ends the leg at its carrier: the agent is not wanted, or the call is over. */
  hangUp(): void {
    if (this.#state !== 'over') this.#close();
  }

  /** The carrier joined this leg to the caller's, and it goes on without us. */
  release(): void {
    this.#state = 'over';
    this.#timer?.cancel();
    this.#line?.close();
    this.#services.legs.close(this.#order.leg);
  }

  attached(attachment: Attachment): void {
    if (this.#state !== 'dialling') return attachment.close('the leg is over');
    this.#state = 'briefing';
    this.#limit(MOST_BRIEF_MS, undefined);
    this.#known(attachment.started.carrierCallId);
    const { answerMs } = this.#order.bot.transfers;
    this.#line = new AgentLine(attachment, this.#order, this.#services, {
      machine: (by) => this.#end('voicemail', by),
      unspeakable: (error) => this.#end('failed', errorText(error)),
      briefed: () => this.#limit(answerMs, 'no-key'),
    });
    this.#listener.answered();
    attachment.listen((event) => this.#onMedia(event));
  }

  reported({ carrier, carrierCallId, progress, witness }: LegReport): void {
    if (carrier !== this.#order.leg.carrier) return;
    if (this.#carrierCallId === undefined) this.#known(carrierCallId);
    if (this.#state === 'over' || carrierCallId !== this.#carrierCallId) return;
    if (witness !== undefined) this.#line?.take(witness);
    if (progress?.state === 'ringing') this.#listener.ringing();
    if (progress?.state === 'ended') {
      if (this.#line !== undefined) this.#lost('hung-up');
      else this.#end(OUTCOMES[progress.outcome], progress.cause);
    }
  }

  abandoned(reason: string): void {
    this.#end('failed', reason);
  }

  #onMedia(event: MediaEvent): void {
    if (this.#state === 'over' || this.isLost) return;
    switch (event.type) {
      case 'audio':
        if (this.#state === 'accepted') this.#listener.audio(event.pcm);
        else this.#line?.hear(event);
        return;
      case 'digit': {
        const { acceptKey, declineKey } = this.#order.bot.transfers;
        if (this.#state !== 'briefing') return;
        if (event.digit === acceptKey) this.#accept();
        else if (event.digit === declineKey) this.#end('declined', 'key');
        return;
      }
      case 'mark':
        return this.#line?.mark(event.name);
      case 'stopped':
        return this.#lost('hung-up');
      case 'closed':
        // Carriers without an end message close the socket normally.
        return this.#lost(event.code === 1000 || event.code === 1005 ? 'hung-up' : 'lost');
      case 'connected':
      case 'started':
      case 'rejected':
        return;
    }
  }

  #limit(withinMs: number, cause: string | undefined): void {
    this.#timer?.cancel();
    this.#timer = this.#services.clock.after(withinMs, () => this.#end('no-answer', cause));
  }

  #accept(): void {
    this.#timer?.cancel();
    this.#line?.silence();
    this.#state = 'accepted';
    this.#listener.accepted();
  }

  #lost(how: 'hung-up' | 'lost'): void {
    if (this.#state === 'accepted') {
      // Not hung up here: a carrier that joins the calls ends their streams while the agent's call goes on.
      this.isLost = true;
      this.#listener.gone(how);
    } else this.#end(how === 'lost' ? 'dropped' : 'declined', how);
  }

  #end(outcome: Exclude<TransferOutcome, 'answered'>, cause: string | undefined): void {
    if (this.#state === 'over') return;
    this.#close();
    this.#listener.over(outcome, cause);
  }

  #close(): void {
    const { legs } = this.#services;
    this.#state = 'over';
    this.#timer?.cancel();
    this.#line?.close();
    legs.close(this.#order.leg);
    // Without an id, the pending answer to the order or the carrier's list shows what to hang up.
    if (this.#carrierCallId !== undefined) legs.whileEnding(this.#hangUpAtCarrier(this.#carrierCallId));
  }

  #known(carrierCallId: string): void {
    if (this.#carrierCallId !== undefined) return;
    this.#carrierCallId = carrierCallId;
    this.#services.legs.placed(this.#order.leg, carrierCallId);
    if (this.#state === 'over') this.#services.legs.whileEnding(this.#hangUpAtCarrier(carrierCallId));
    else this.#listener.placed(carrierCallId);
  }

  get #control(): CallControl | undefined {
    return this.#services.controlOf(this.#order.leg.carrier);
  }

  /** Retries while the phone may ring: an agent who answered then would hear silence at some carriers. Never rejects. */
  async #hangUpAtCarrier(carrierCallId: string): Promise<void> {
    const { logger, clock } = this.#services;
    const { callId, legId } = this.#order.leg;
    for (let attempt = 1; attempt <= LOOKS; attempt += 1) {
      try {
        await this.#control?.hangUp(carrierCallId, new AbortController().signal);
        return;
      } catch (error) {
        const known = error instanceof OffhookError ? error : undefined;
        const level = known?.facts['unsupported'] === true ? 'debug' : 'warn';
        logger[level]({ callId, legId, attempt, error }, "hanging up an agent's leg failed at the carrier");
        if (known?.retryable !== true || attempt === LOOKS) return;
        await sleep(clock, LOOK_MS);
      }
    }
  }

  async #dial(): Promise<void> {
    const { clock, legs, logger } = this.#services;
    const { leg, from, to, ringMs, bot } = this.#order;
    const dialling = this.#control?.dialling;
    if (dialling === undefined) return this.#end('failed', 'no-carrier-account');
    const late = new AbortController();
    let timer: Timer | undefined;
    try {
      const addresses = await legs.open(leg, ringMs, this);
      // The caller may have hung up meanwhile: no call is paid for then.
      if (this.#isOver) return legs.close(leg);
      this.#askedAtMs = clock.wallMs();
      timer = clock.after(ORDER_WITHIN_MS, () => late.abort(new Error(`no answer within ${ORDER_WITHIN_MS} ms`)));
      const about = { callId: leg.legId, from, to, ringTimeoutMs: ringMs, maxDurationMs: bot.maxDurationMs };
      const order: DialOrder = { ...about, ...addresses, detectMachine: dialling.capabilities.detectsMachines };
      const { carrierCallId } = await dialling.dial(order, late.signal);
      this.#known(carrierCallId);
    } catch (error) {
      // It was closed while its addresses were requested.
      if (this.#isOver && this.#askedAtMs === undefined) return;
      const isUnknown = error instanceof OffhookError && error.code === 'OFFHOOK_DIAL_UNKNOWN';
      logger.warn({ callId: leg.callId, legId: leg.legId, error }, "dialling an agent's leg failed");
      if (isUnknown) legs.whileEnding(this.#lookForCall());
      else this.#end('failed', causeOf(error));
    } finally {
      timer?.cancel();
    }
  }

  /** Looks for a call whose order got no answer: it may ring, and must not ring on unattended. Never rejects. */
  async #lookForCall(): Promise<void> {
    const { clock } = this.#services;
    const { leg, from, to } = this.#order;
    for (let look = 0; look < LOOKS && this.#carrierCallId === undefined; look += 1) {
      await sleep(clock, LOOK_MS);
      const order = { callId: leg.legId, from, to };
      const { signal } = new AbortController();
      const found = await this.#control?.dialling?.find(order, this.#askedAtMs ?? 0, signal).catch(() => undefined);
      if (found?.found === 'placed') this.#known(found.carrierCallId);
      if (found?.found === 'not-placed') return this.#end('failed', 'not-placed');
    }
  }

  get #isOver(): boolean {
    return this.#state === 'over';
  }
}
