import { WebSocket } from 'ws';
import type { Clock, Timer } from '../../src/kernel/clock.ts';

const SILENCE = Buffer.alloc(640);

/** Sends the silence of a page at 16 kHz, a frame every 20 ms. @returns ends it */
export function silenced(socket: WebSocket, clock: Clock): () => void {
  let timer: Timer | undefined;
  const send = (): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(SILENCE);
    timer = clock.after(20, send);
  };
  send();
  return () => timer?.cancel();
}
