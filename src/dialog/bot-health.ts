import type { Bot } from '../config/bots.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';

/** A server that is down is asked again after so long; twice as long after each time that it still is. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;
/** The call that tries a bot again may take so long to tell; then another one tries. */
const TRIAL_MS = 30_000;
const PROBE_LIMIT_MS = 3_000;
/** Statuses of a proxy whose server is unreachable. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether the server of a bot can be reached now. */
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
 * Which bots' servers are known to be down, over all calls of this process: a circuit breaker for each bot. A server that failed is probed
 * from time to time, by no caller; once it can be reached, one call tries it, and its answer ends the outage.
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

  /** Whether a new call may ask this bot. Where it is to try a server that was down, other calls wait for what comes of that. */
  admits(name: string): boolean {
    const outage = this.#outages.get(name);
    if (outage === undefined) return true;
    const nowMs = this.#options.clock.nowMs();
    if (outage.state === 'down' || nowMs < outage.trialUntilMs) return false;
    outage.trialUntilMs = nowMs + TRIAL_MS;
    return true;
  }

  /** The bot's server answered a turn. */
  answered(name: string): void {
    const outage = this.#outages.get(name);
    if (outage === undefined) return;
    outage.timer?.cancel();
    this.#outages.delete(name);
    const { clock, logger } = this.#options;
    logger.info({ bot: name, downMs: Math.round(clock.wallMs() - outage.sinceWallMs) }, 'server of a bot answers again');
  }

  /** The bot's server did not answer a turn. */
  failed(bot: Pick<Bot, 'name' | 'dialog'>): void {
    if (this.#ending.signal.aborted) return;
    const { clock, logger } = this.#options;
    const before = this.#outages.get(bot.name);
    // Calls that were under way fail too: that is no news.
    if (before?.state === 'down') return;
    const pauseMs = before === undefined ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, 2 * before.pauseMs);
    const sinceWallMs = before?.sinceWallMs ?? clock.wallMs();
    const outage: Outage = { state: 'down', sinceWallMs, pauseMs, timer: undefined, trialUntilMs: 0 };
    this.#outages.set(bot.name, outage);
    this.#probeLater(bot, outage);
    if (before === undefined) logger.warn({ bot: bot.name }, 'server of a bot is down');
  }

  /** Nothing is probed any more. */
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

/** Asks a bot's server for its options, which does nothing there: any answer but that of a proxy without a server will do. */
async function probeServer({ dialog }: Pick<Bot, 'dialog'>, signal: AbortSignal): Promise<boolean> {
  const address = 'baseUrl' in dialog ? dialog.baseUrl : 'url' in dialog ? dialog.url : undefined;
  // A module runs here: whether what it needs is there, only a call can tell.
  if (address === undefined) return true;
  const url = address.replace(/^ws/u, 'http');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_LIMIT_MS)]);
  const response = await fetch(url, { method: 'OPTIONS', redirect: 'manual', signal: limit });
  await response.body?.cancel();
  return !AWAY.has(response.status);
}
