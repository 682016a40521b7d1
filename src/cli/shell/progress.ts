import { systemClock, type Timer } from '../../kernel/clock.ts';

const WIDTH = 24;
const REDRAW_MS = 200;

/**
 * A progress line on stderr: a bar when the share is known, and the elapsed time. Nothing when stderr is not a terminal.
 */
export class Progress implements Disposable {
  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly #label: string;
  readonly #startedMs = systemClock.nowMs();
  #detail = '';
  #share: number | undefined;
  #timer: Timer | undefined;

  constructor(label: string, stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr) {
    this.#label = label;
    this.#stream = stream;
    if (stream.isTTY) this.#tick();
  }

  /** @param share 0 to 1; undefined when unknown */
  update(detail: string, share?: number): void {
    this.#detail = detail;
    this.#share = share;
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    // Clears the line for the command's output.
    if (this.#stream.isTTY) this.#stream.write('\r\u001B[2K');
  }

  #tick(): void {
    const seconds = Math.round((systemClock.nowMs() - this.#startedMs) / 1000);
    this.#stream.write(
      `\r\u001B[2K${this.#label} ${bar(this.#share)}${this.#detail === '' ? '' : `${this.#detail}, `}${seconds} s`,
    );
    this.#timer = systemClock.after(REDRAW_MS, () => this.#tick());
  }
}

/** `[######..................]  25 % `, or nothing. */
export function bar(share: number | undefined): string {
  if (share === undefined) return '';
  const known = Math.min(1, Math.max(0, share));
  const full = Math.round(known * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${String(Math.round(known * 100)).padStart(3)} % `;
}
