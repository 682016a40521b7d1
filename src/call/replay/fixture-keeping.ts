import type { Clock, Timer } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CallIdentity, CallServices, CallTiming } from '../services.ts';
import { CallRecorder } from './call-recorder.ts';
import { deleteExpiredFixtures, writeFixture } from './fixture-file.ts';

export interface FixtureKeepingOptions {
  readonly folder: string;
  /** Names of bots with commas between, or `*`; undefined for none. */
  readonly bots: string | undefined;
  /** How long each fixture may be looked into. */
  readonly lifeMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CLEAN_EVERY_MS = 3_600_000;

/** Keeps the calls of some bots as fixtures, and deletes each when its time is over: at once, and every hour. */
export class FixtureKeeping {
  readonly #options: FixtureKeepingOptions;
  readonly #bots: ReadonlySet<string>;
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: FixtureKeepingOptions) {
    this.#options = options;
    this.#bots = new Set(options.bots?.split(',').map((name) => name.trim()));
    void this.#clean();
  }

  /** A recorder for a call that is to be kept. */
  readonly record = (identity: CallIdentity, services: CallServices, timing: CallTiming): CallRecorder | undefined => {
    if (!this.#bots.has('*') && !this.#bots.has(identity.bot.name)) return undefined;
    const { folder, lifeMs, logger } = this.#options;
    return new CallRecorder({
      identity,
      services,
      timing,
      lifeMs,
      keep: async (fixture) => {
        const path = await writeFixture(folder, identity.callId, fixture);
        logger.info(
          { callId: identity.callId, path, expiresAtMs: fixture.expiresAtMs ?? undefined },
          'a call was kept as a fixture',
        );
      },
    });
  };

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  async #clean(): Promise<void> {
    const { folder, clock, logger } = this.#options;
    try {
      const deleted = await deleteExpiredFixtures(folder, clock.wallMs(), (name, error) =>
        logger.warn({ name, error }, 'a fixture could not be looked at'),
      );
      if (deleted > 0) logger.info({ deleted }, 'fixtures whose time was over are deleted');
    } catch (error) {
      logger.warn({ error }, 'fixtures could not be looked through');
    }
    if (!this.#closed) this.#timer = clock.after(CLEAN_EVERY_MS, () => void this.#clean());
  }
}
