import type { Clock, Timer } from '../../kernel/clock.ts';
import { bar } from '../shell/progress.ts';

/** How far a batch is. */
export interface BatchCounts {
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  /** Undefined while it is still being found out. */
  readonly total: number | undefined;
}

const TERMINAL_MS = 500;
const LOG_MS = 10_000;
/** The rate is that of the last minutes, not of a slow start. */
const WINDOW_MS = 120_000;

/** Tells of a batch on stderr: one line drawn over and over on a terminal, else a line every ten seconds. */
export class BatchProgress implements Disposable {
  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly #clock: Clock;
  readonly #counts: () => BatchCounts;
  readonly #samples: { readonly atMs: number; readonly done: number }[] = [];
  #timer: Timer | undefined;

  constructor(clock: Clock, counts: () => BatchCounts, stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr) {
    this.#stream = stream;
    this.#clock = clock;
    this.#counts = counts;
    this.#tick();
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    if (this.#stream.isTTY) this.#stream.write('\r\u001B[2K');
  }

  #tick(): void {
    const counts = this.#counts();
    const nowMs = this.#clock.nowMs();
    const latest = { atMs: nowMs, done: counts.done + counts.failed };
    this.#samples.push(latest);
    while (this.#samples.length > 2 && nowMs - (this.#samples[0] ?? latest).atMs > WINDOW_MS) this.#samples.shift();
    const [first = latest] = this.#samples;
    const minutes = (nowMs - first.atMs) / 60_000;
    const perMinute = minutes === 0 ? 0 : (counts.done + counts.failed - first.done) / minutes;
    const line = progressLine(counts, perMinute);
    if (this.#stream.isTTY) this.#stream.write(`\r\u001B[2K${line}`);
    else if (minutes > 0) this.#stream.write(`${line}\n`);
    this.#timer = this.#clock.after(this.#stream.isTTY ? TERMINAL_MS : LOG_MS, () => this.#tick());
  }
}

/** `[####....]  25 % 250 of 1000, 3 failed, 12.5 a minute, 1 h 0 min left` */
export function progressLine({ done, skipped, failed, total }: BatchCounts, perMinute: number): string {
  const finished = done + skipped + failed;
  const parts = [
    total === undefined ? `${finished}` : `${finished} of ${total}`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(perMinute === 0 ? [] : [`${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} a minute`]),
    ...(perMinute === 0 || total === undefined ? [] : [`${spell((total - finished) / perMinute)} left`]),
  ];
  return `${bar(total === undefined || total === 0 ? undefined : finished / total)}${parts.join(', ')}`;
}

function spell(minutes: number): string {
  if (minutes < 1.5) return `${Math.max(0, Math.round(minutes * 60))} s`;
  if (minutes < 90) return `${Math.round(minutes)} min`;
  return `${Math.floor(minutes / 60)} h ${Math.round(minutes % 60)} min`;
}
