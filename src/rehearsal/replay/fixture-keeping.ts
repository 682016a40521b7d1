import type { Bot } from '../../config/bots.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CallIdentity } from '../../call/log/call-record.ts';
import type { CallServices, CallTiming } from '../../call/services.ts';
import { CallRecorder } from './call-recorder.ts';
import { deleteExpiredFixtures, type FixturePlace, reserveFixture, type FixtureKey } from './fixture-file.ts';

/** Folder within the data folder. */
export const FIXTURES_FOLDER = 'fixtures';

export interface FixtureKeepingOptions {
  readonly folder: string;
  /** Names of bots, separated by commas, or `*`; undefined for none. */
  readonly bots: string | undefined;
  /** Life of a fixture, unless the call's data is erased earlier. */
  readonly days: number;
  /** Default retention in days for bots without their own; 0 keeps for ever. */
  readonly retention: { readonly audioDays: number; readonly textDays: number };
  /** Gives the key of a call's sound, where plain files are not allowed. */
  readonly sealUnder: FixtureKey | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CLEAN_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Records the calls of some bots as fixtures, and deletes expired ones at the start and every hour. */
export class FixtureKeeping {
  readonly #options: FixtureKeepingOptions;
  readonly #bots: ReadonlySet<string>;
  readonly #refused = new Set<string>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: FixtureKeepingOptions) {
    this.#options = options;
    this.#bots = new Set(options.bots?.split(',').map((name) => name.trim()));
    void this.#clean();
  }

  readonly record = (identity: CallIdentity, services: CallServices, timing: CallTiming): CallRecorder | undefined => {
    const { bot } = identity;
    if (!this.#bots.has('*') && !this.#bots.has(bot.name)) return undefined;
    if (bot.recording !== 'always') return this.#refuse(bot);
    const lifeMs = this.#daysOf(bot) * DAY_MS;
    return new CallRecorder({
      identity,
      services,
      timing,
      lifeMs,
      reserve: () => this.reserve(identity),
    });
  };

  /** Reserves the place of a call's fixture, sealed where calls are. @throws the disk's error */
  async reserve({ tenantId, callId }: CallIdentity): Promise<FixturePlace> {
    const { folder, sealUnder, logger } = this.#options;
    const place = await reserveFixture(folder, { tenantId, callId }, sealUnder);
    return {
      async keep(fixture) {
        const path = await place.keep(fixture);
        if (path !== undefined)
          logger.info({ callId, path, expiresAtMs: fixture.expiresAtMs ?? undefined }, 'call saved as a fixture');
        return path;
      },
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  }

  /** A fixture contains a call's sound from the start, so it is refused where that may not be recorded. */
  #refuse({ name, recording }: Bot): undefined {
    if (!this.#refused.has(name))
      this.#options.logger.warn({ bot: name, recording }, 'calls of this bot may not be saved as fixtures');
    this.#refused.add(name);
  }

  #daysOf({ retention }: Bot): number {
    const { days, retention: byDefault } = this.#options;
    const erasedAfter = [retention.audioDays ?? byDefault.audioDays, retention.textDays ?? byDefault.textDays];
    return Math.min(days, ...erasedAfter.filter((after) => after > 0));
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  async #clean(): Promise<void> {
    const { folder, clock, logger } = this.#options;
    try {
      const deleted = await deleteExpiredFixtures(folder, clock.wallMs(), (name, error) =>
        logger.warn({ name, error }, 'fixture unreadable'),
      );
      if (deleted > 0) logger.info({ deleted }, 'expired fixtures deleted');
    } catch (error) {
      logger.warn({ error }, 'searching for expired fixtures failed');
    }
    if (!this.#closed) this.#timer = clock.after(CLEAN_EVERY_MS, () => void this.#clean());
  }
}
