import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are in use once everything unused is collected: objects and the memory of buffers. */
export function liveBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The most memory in use since it was made, looked at ten times a second, whenever the work pauses for the disk. */
export class MemoryWatch {
  readonly #before = liveBytes();
  readonly #timer = setInterval(() => this.look(), 100).unref();
  #most = 0;

  look(): void {
    this.#most = Math.max(this.#most, liveBytes());
  }

  /** How much more than at the start was in use at most, in MB; ends the watch. */
  get grownMb(): number {
    clearInterval(this.#timer);
    this.look();
    return (this.#most - this.#before) / 1e6;
  }
}
