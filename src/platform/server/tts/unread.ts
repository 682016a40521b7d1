import type { WebSocket } from 'ws';
import { sleep } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { Refusal } from '../refusal.ts';

/** About five seconds of 24 kHz audio. */
const maxUnreadBytes = 256 * 1024;
const pollMs = 20;

/**
 * Waits until the client has read enough of what was sent, so that a slow one does not fill memory.
 * @throws Refusal 408 when it does not read for `limitMs`, the signal's reason when it aborts
 */
export async function drained(socket: WebSocket, clock: Clock, limitMs: number, signal: AbortSignal): Promise<void> {
  const untilMs = clock.nowMs() + limitMs;
  while (socket.bufferedAmount > maxUnreadBytes) {
    if (clock.nowMs() > untilMs) throw new Refusal(408, 'The client does not read its audio');
    await sleep(clock, pollMs, signal);
  }
}
