import type { Clock, Timer } from '../../kernel/clock.ts';
import type { SynthesisSocket } from './synthesis-socket.ts';

/** A socket that has nothing to do is kept this long for the next sentence. */
const IDLE_MS = 20_000;

/** Open synthesis sockets that nobody uses: at most one for each key, since the next sentence needs no more. */
export class IdleSockets {
  readonly #clock: Clock;
  readonly #byLane = new Map<number, { readonly socket: SynthesisSocket; readonly timer: Timer }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(lane: number): boolean {
    return this.#byLane.get(lane)?.socket.usable === true;
  }

  /** The socket of a lane, which is then the caller's; undefined when there is none that works. */
  take(lane: number): SynthesisSocket | undefined {
    const idle = this.#byLane.get(lane);
    this.#byLane.delete(lane);
    idle?.timer.cancel();
    return idle?.socket.usable === true ? idle.socket : undefined;
  }

  /** Keeps a socket for a while, or closes it where there is one already. */
  keep(lane: number, socket: SynthesisSocket): void {
    if (this.has(lane)) {
      socket.close();
      return;
    }
    this.take(lane);
    const timer = this.#clock.after(IDLE_MS, () => this.take(lane)?.close());
    this.#byLane.set(lane, { socket, timer });
  }

  close(): void {
    for (const lane of this.#byLane.keys()) this.take(lane)?.close();
  }
}
