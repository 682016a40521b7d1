import { stat } from 'node:fs/promises';
import type { CallJournal, ClaimCall } from '../../call/log/call-journal.ts';
import { outcomeOf } from '../../call/log/outcome.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import type { BusinessEvents } from '../../observability/events.ts';
import type { Logger } from '../../observability/logger.ts';
import { callRecord } from '../record.ts';
import { keepEndedCall, PROCESS_DIED } from './call-ended.ts';
import type { Keeping } from './call-keeping.ts';
import type { Outbox } from '../outbox/outbox.ts';

/** Interval of looking for calls of dead processes. */
const LOOK_MS = 5_000;
/** Time for a carrier to bring back a call whose process died. */
const COMES_BACK_MS = 10_000;

export interface OrphanWatchOptions {
  readonly journal: Pick<CallJournal, 'orphans' | 'forget' | 'setAside'>;
  readonly keeping: Keeping & {
    /** Whether this process is in charge of the data folder, which one of several gateways on it is. */
    readonly mayDrain: () => Promise<boolean>;
  };
  /** Makes this machine, of several, the owner of a call before it is ended; absent with a single machine. */
  readonly claims?: { readonly claim: ClaimCall; readonly release: (callId: string) => void } | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<BusinessEvents, 'callEnded'>;
}

/** Ends the calls that dead processes left open: those of an earlier run, of media processes, and of other gateways on the same data folder. */
export class OrphanWatch implements AsyncDisposable {
  readonly #options: OrphanWatchOptions;
  #looks: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: OrphanWatchOptions) {
    this.#options = options;
  }

  /** Looks once, and from then on again and again. @throws what the disk throws at the first look */
  async start(): Promise<void> {
    await this.#look();
    this.#wait();
  }

  /** A process has just died: its calls are looked for now. */
  wake(): void {
    this.#timer?.cancel();
    void this.#lookOrSay().then(() => this.#wait());
  }

  /** Looks a last time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#lookOrSay();
  }

  #wait(): void {
    this.#timer?.cancel();
    if (!this.#stopped) this.#timer = this.#options.clock.after(LOOK_MS, () => this.wake());
  }

  #lookOrSay(): Promise<void> {
    return this.#look().catch((error: unknown) => {
      this.#options.logger.error({ error }, 'ending the calls of a dead process failed');
    });
  }

  /** One look after the other. */
  #look(): Promise<void> {
    const { journal, keeping, claims, clock, logger, events } = this.#options;
    const look = async (): Promise<void> => {
      if (await keeping.mayDrain()) await endOrphans(journal, keeping, clock, { logger, events, claims });
    };
    this.#looks = this.#looks.then(look, look);
    return this.#looks;
  }
}

/**
 * Ends the calls of dead processes at their last sign of life, with the end reason `process-died`.
 * A journal that cannot be read, as when another version wrote it, is set aside.
 */
export async function endOrphans(
  journal: Pick<CallJournal, 'orphans' | 'forget' | 'setAside'>,
  { outbox, pump }: { readonly outbox: Pick<Outbox, 'append'>; readonly pump: Keeping['pump'] },
  clock: Pick<Clock, 'wallMs'>,
  { logger, events, claims }: Pick<OrphanWatchOptions, 'logger' | 'events' | 'claims'>,
): Promise<void> {
  for (const { callId, document, isElsewhere } of await journal.orphans(COMES_BACK_MS, claims?.claim)) {
    const record = callRecord.safeParse(document);
    if (isElsewhere === true) {
      await journal.forget(callId);
      const recordingPath = record.data?.recordingPath;
      logger.warn({ callId, recordingPath }, 'call went on at another machine: the beginning of its recording is here');
    } else if (record.success) {
      const { revision, recordingPath, recordingSidecarPath, ...rest } = record.data;
      const writtenAtMs = recordingPath === undefined ? undefined : await writtenAt(recordingPath);
      const recording = writtenAtMs === undefined ? {} : { recordingPath, recordingSidecarPath };
      const { startedAtMs } = rest;
      const journalledAtMs = startedAtMs + (rest.summary['durationMs'] ?? 0);
      // The last sign of life. The clock may have been set back meanwhile.
      const endedAtMs = Math.max(startedAtMs, Math.min(clock.wallMs(), Math.max(journalledAtMs, writtenAtMs ?? 0)));
      const summary = { ...rest.summary, durationMs: endedAtMs - startedAtMs };
      const endReason = PROCESS_DIED;
      const end = { revision: revision + 1, endedAtMs, endReason, summary };
      await keepEndedCall(outbox, pump, { ...rest, ...recording, ...end });
      await journal.forget(callId);
      claims?.release(callId);
      logger.warn({ callId }, 'call ended: its process died');
      const { botName: bot, carrier, turns } = rest;
      const ended = { carrier, callId, bot, outcome: outcomeOf(endReason), reason: endReason, durationMs: summary.durationMs };
      events.callEnded({ ...ended, turns: turns.length });
    } else {
      await journal.setAside(callId);
      logger.error({ callId }, 'journal of an orphaned call unreadable, set aside');
    }
  }
}

/** When a file was last written, in whole ms since the epoch; undefined for a missing file. */
async function writtenAt(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? undefined : Math.floor(found.mtimeMs);
}
