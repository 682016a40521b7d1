import type { Clock, Timer } from '../../kernel/clock.ts';
import type { SynthesisSocket } from './synthesis-socket.ts';

/** A socket that has nothing to do is kept this long for the next sentence. */
const IDLE_MS = 20_000;

interface Idle {
  readonly socket: SynthesisSocket;
  readonly timer: Timer;
}

/** Open synthesis sockets that nobody uses, by the key they were opened with. */
export class IdleSockets {
  readonly #clock: Clock;
  /** Of each lane, the one that was used last at the end: what is not needed grows old. */
  readonly #byLane = new Map<number, Idle[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(lane: number): boolean {
    return this.#usable(lane).length > 0;
  }

  /** A socket of a lane, which is then the caller's; undefined when there is none that works. */
  take(lane: number): SynthesisSocket | undefined {
    const idle = this.#usable(lane).pop();
    idle?.timer.cancel();
    return idle?.socket;
  }

  /** Keeps a socket for a while, or closes it where there are as many already. @param most of this lane */
  keep(lane: number, socket: SynthesisSocket, most: number): void {
    const kept = this.#usable(lane);
    if (kept.length >= most) {
      socket.close();
      return;
    }
    const idle: Idle = { socket, timer: this.#clock.after(IDLE_MS, () => this.#drop(lane, idle)) };
    kept.push(idle);
  }

  close(): void {
    for (const kept of this.#byLane.values()) kept.splice(0).forEach(end);
  }

  /** Those of a lane that still work, in a list to be changed. */
  #usable(lane: number): Idle[] {
    const known = this.#byLane.get(lane) ?? [];
    for (const idle of known) if (!idle.socket.usable) end(idle);
    const kept = known.filter(({ socket }) => socket.usable);
    this.#byLane.set(lane, kept);
    return kept;
  }

  #drop(lane: number, idle: Idle): void {
    const kept = this.#byLane.get(lane) ?? [];
    this.#byLane.set(
      lane,
      kept.filter((other) => other !== idle),
    );
    end(idle);
  }
}

function end({ socket, timer }: Idle): void {
  timer.cancel();
  socket.close();
}
