import type { Bot } from '../../config/bots.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CallIdentity, CallServices, CallTiming } from '../services.ts';
import { CallRecorder } from './call-recorder.ts';
import type { CallFixture } from './fixture.ts';
import { deleteExpiredFixtures, writeFixture, writeSealedFixture } from './fixture-file.ts';
import type { FixtureKey } from './sealed-fixture.ts';

/** In the data folder. */
export const FIXTURES_FOLDER = 'fixtures';

export interface FixtureKeepingOptions {
  readonly folder: string;
  /** Names of bots with commas between, or `*`; undefined for none. */
  readonly bots: string | undefined;
  /** How long each fixture may be looked into, where what is kept of the call is not erased sooner. */
  readonly days: number;
  /** Days after which calls are erased whose bot does not say; 0 for never. */
  readonly retention: { readonly audioDays: number; readonly textDays: number };
  /** Gives the key that a call's sound is sealed under, where nothing of a call may stay in a plain file. */
  readonly sealUnder: FixtureKey | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CLEAN_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Keeps the calls of some bots as fixtures, and deletes each when its time is over: at once, and every hour. */
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

  /** A recorder for a call that is to be kept. */
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
      keep: (fixture) => this.keep(identity, fixture),
    });
  };

  /** Writes a finished fixture, sealed where calls are. @throws what the disk and the store throw: nothing is kept then */
  async keep({ tenantId, callId }: CallIdentity, fixture: CallFixture): Promise<void> {
    const { folder, sealUnder, logger } = this.#options;
    const path = await (sealUnder === undefined
      ? writeFixture(folder, callId, fixture)
      : writeSealedFixture(folder, { tenantId, callId }, fixture, sealUnder));
    if (path === undefined) return;
    logger.info({ callId, path, expiresAtMs: fixture.expiresAtMs ?? undefined }, 'a call was kept as a fixture');
  }

  /** A fixture is the sound of a call from its first moment: where that may not be kept, there is none. */
  #refuse({ name, recording }: Bot): undefined {
    if (!this.#refused.has(name))
      this.#options.logger.warn({ bot: name, recording }, 'the calls of a bot may not be kept as fixtures');
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
        logger.warn({ name, error }, 'a fixture could not be looked at'),
      );
      if (deleted > 0) logger.info({ deleted }, 'fixtures whose time was over are deleted');
    } catch (error) {
      logger.warn({ error }, 'fixtures could not be looked through');
    }
    if (!this.#closed) this.#timer = clock.after(CLEAN_EVERY_MS, () => void this.#clean());
  }
}
