import type { Clock, Timer } from '../kernel/clock.ts';
import type { CallIntake } from './intake.ts';

/**
 * Attachments that were promised and have not come. Each ends in exactly one way: it starts, it is given up by its
 * socket, or its time is over. Bounded by admission: nothing is expected that was not accepted.
 */
export class ExpectedMedia {
  readonly #waiting = new Map<string, { readonly callId: string; readonly timer: Timer }>();
  readonly #clock: Clock;
  readonly #intake: Pick<CallIntake, 'abandon'>;

  constructor(clock: Clock, intake: Pick<CallIntake, 'abandon'>) {
    this.#clock = clock;
    this.#intake = intake;
  }

  expect(callId: string, attachmentId: string, withinMs: number): void {
    const giveUp = (): void => this.abandon(attachmentId, `no media within ${withinMs} ms of the answer`);
    this.#waiting.set(attachmentId, { callId, timer: this.#clock.after(withinMs, giveUp) });
  }

  /** @returns whether it was still expected; a second arrival must be sent away */
  arrived(attachmentId: string): boolean {
    this.#waiting.get(attachmentId)?.timer.cancel();
    return this.#waiting.delete(attachmentId);
  }

  abandon(attachmentId: string, reason: string): void {
    const callId = this.#waiting.get(attachmentId)?.callId;
    if (callId !== undefined && this.arrived(attachmentId)) this.#intake.abandon(callId, attachmentId, reason);
  }

  /** The server is closing: nothing more will come. */
  abandonAll(reason: string): void {
    for (const attachmentId of this.#waiting.keys()) this.abandon(attachmentId, reason);
  }
}
