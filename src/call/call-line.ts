import type { Attachment } from '../carriers/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallLog } from './log/call-log.ts';
import type { CallIdentity, CallRecord } from './log/call-record.ts';
import type { Media } from './media.ts';
import type { TransferResult } from './turn/farewell-state.ts';
import type { TurnLoop } from './turn/turn.ts';
import type { TurnEvent, TurnState } from './turn/turn-state.ts';

/** What one part of a call tells the others that were built after it. */
export type CallEvent =
  /** Ends the call here, and at its carrier unless it was transferred. */
  | { readonly type: 'hang-up'; readonly reason: string }
  /** The turns have ended the call. */
  | { readonly type: 'over'; readonly reason: string }
  /** A transfer failed, and the dialog has no words for it. */
  | { readonly type: 'no-words' }
  /** The carrier has taken the caller over, or joined them to an agent: the stop of the stream follows. */
  | { readonly type: 'transferred' }
  /** The carrier refused a transfer. `cause`: its own code, or ours, where there is one. */
  | { readonly type: 'transfer-refused'; readonly to: string; readonly cause: string | undefined }
  /** Caller and agent are about to be connected. */
  | { readonly type: 'agent-accepted'; readonly result: TransferResult }
  /** An operator has given the call back to the bot. */
  | { readonly type: 'given-back' }
  | { readonly type: 'synthesis-stalled' };

interface LineParts {
  readonly identity: CallIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: CallLog;
  readonly turns: TurnLoop;
  /** Passes an event on to the parts that it concerns. */
  readonly emit: (event: CallEvent) => void;
}

/** What the parts of one call share: whom it is with, its turns and log, and its line as it is now. */
export class CallLine {
  readonly identity: CallIdentity;
  readonly clock: Clock;
  readonly log: CallLog;
  readonly turns: TurnLoop;
  readonly emit: (event: CallEvent) => void;
  /** Undefined before the first socket. */
  media: Media | undefined;
  /** The carrier's socket; undefined while none is attached. */
  attachment: Attachment | undefined;
  readonly #logger: Logger;

  constructor({ identity, clock, logger, log, turns, emit }: LineParts) {
    this.identity = identity;
    this.clock = clock;
    this.log = log;
    this.turns = turns;
    this.emit = emit;
    this.#logger = logger;
  }

  get turn(): TurnState {
    return this.turns.state;
  }

  feed(event: TurnEvent): void {
    this.turns.feed(event);
  }

  /** Spoken now: the bot's, or that of the resumed call, until the caller or the dialog changes it. */
  get language(): string {
    const { resumed, bot } = this.identity;
    return this.media?.voice.language ?? resumed?.state.language ?? bot.language;
  }

  hangUp(reason: string): void {
    this.emit({ type: 'hang-up', reason });
  }

  /** The call as it stands, for its record. */
  record(reason: string): CallRecord {
    return this.log.record(reason, this.language, { ...this.media, line: this.media?.inbound.quality });
  }

  /** Runs a step of this call: a fault in one call ends that call only. */
  guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#logger.error({ callId: this.identity.callId, error }, 'call aborted: internal error');
      this.hangUp('internal-error');
    }
  }
}
