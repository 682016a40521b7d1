import type { Bot } from '../config/bots.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';

/** First interval between probes of a server that is down; doubles each time. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;
/** Time for a trial call to succeed; then another one tries. */
const TRIAL_MS = 30_000;
const PROBE_LIMIT_MS = 3_000;
/** Statuses of a proxy whose server is unreachable. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether the server of a bot is reachable now. */
export type BotProbe = (bot: Pick<Bot, 'dialog'>, signal: AbortSignal) => Promise<boolean>;

interface Outage {
  /** `down`: not asked. `trial`: reachable again, and one call at a time tests it. */
  state: 'down' | 'trial';
  readonly sinceWallMs: number;
  pauseMs: number;
  timer: Timer | undefined;
  trialUntilMs: number;
}

export interface BotHealthOptions {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly probe?: BotProbe;
}

/**
 * Tracks which bots' servers are down, over all calls of this process: a circuit breaker for each bot. A failed server is probed regularly, without
 * callers; once reachable, one call tries it, and its answer ends the outage.
 */
export class BotHealth implements Disposable {
  readonly #options: BotHealthOptions;
  readonly #outages = new Map<string, Outage>();
  readonly #ending = new AbortController();

  constructor(options: BotHealthOptions) {
    this.#options = options;
  }

  /** Bots whose servers are down (`down`), or are reachable and untested (`trial`). */
  get outages(): readonly { readonly bot: string; readonly state: Outage['state'] }[] {
    return Array.from(this.#outages, ([bot, { state }]) => ({ bot, state }));
  }

  /** Whether a new call may ask this bot. While one call tries a recovered server, the others may not. */
  admits(name: string): boolean {
    const outage = this.#outages.get(name);
    if (outage === undefined) return true;
    const nowMs = this.#options.clock.nowMs();
    if (outage.state === 'down' || nowMs < outage.trialUntilMs) return false;
    outage.trialUntilMs = nowMs + TRIAL_MS;
    return true;
  }

  answered(name: string): void {
    const outage = this.#outages.get(name);
    if (outage === undefined) return;
    outage.timer?.cancel();
    this.#outages.delete(name);
    const { clock, logger } = this.#options;
    logger.info({ bot: name, downMs: Math.round(clock.wallMs() - outage.sinceWallMs) }, 'server of a bot answers again');
  }

  failed(bot: Pick<Bot, 'name' | 'dialog'>): void {
    if (this.#ending.signal.aborted) return;
    const { clock, logger } = this.#options;
    const before = this.#outages.get(bot.name);
    // Calls that were under way fail too.
    if (before?.state === 'down') return;
    const pauseMs = before === undefined ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, 2 * before.pauseMs);
    const sinceWallMs = before?.sinceWallMs ?? clock.wallMs();
    const outage: Outage = { state: 'down', sinceWallMs, pauseMs, timer: undefined, trialUntilMs: 0 };
    this.#outages.set(bot.name, outage);
    this.#probeLater(bot, outage);
    if (before === undefined) logger.warn({ bot: bot.name }, 'server of a bot is down');
  }

  /** Stops probing. */
  [Symbol.dispose](): void {
    this.#ending.abort(new Error('the gateway stops'));
    for (const { timer } of this.#outages.values()) timer?.cancel();
  }

  #probeLater(bot: Pick<Bot, 'name' | 'dialog'>, outage: Outage): void {
    outage.timer = this.#options.clock.after(outage.pauseMs, () => void this.#probe(bot, outage));
  }

  async #probe(bot: Pick<Bot, 'name' | 'dialog'>, outage: Outage): Promise<void> {
    const { probe = probeServer } = this.#options;
    const isThere = await probe(bot, this.#ending.signal).catch(() => false);
    if (this.#ending.signal.aborted || this.#outages.get(bot.name) !== outage) return;
    if (isThere) outage.state = 'trial';
    else {
      outage.pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * outage.pauseMs);
      this.#probeLater(bot, outage);
    }
  }
}

/** Sends OPTIONS to a bot's server, which has no effect there: any answer counts, except a proxy's without a server. */
async function probeServer({ dialog }: Pick<Bot, 'dialog'>, signal: AbortSignal): Promise<boolean> {
  const address = 'baseUrl' in dialog ? dialog.baseUrl : 'url' in dialog ? dialog.url : undefined;
  // A module runs in this process; only a call can test it.
  if (address === undefined) return true;
  const url = address.replace(/^ws/u, 'http');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_LIMIT_MS)]);
  const response = await fetch(url, { method: 'OPTIONS', redirect: 'manual', signal: limit });
  await response.body?.cancel();
  return !AWAY.has(response.status);
}
