import type { Clock } from '../../kernel/clock.ts';
import type { CallLog } from '../log/call-log.ts';
import type { Media } from '../media.ts';
import { isQuestion } from '../turn/spoken-cues.ts';
import type { TurnLoop } from '../turn/turn.ts';

interface ProgressListener {
  /** All of a reply was heard. */
  played(turn: number): void;
  /** Carries out what was to follow the reply. */
  followUp(media: Media): Promise<void>;
}

/** Follows the bot's replies as they are played, for the log and the turns. */
export class ReplyProgress {
  readonly #clock: Clock;
  readonly #turns: TurnLoop;
  readonly #callLog: CallLog;
  readonly #listener: ProgressListener;

  constructor(clock: Clock, turns: TurnLoop, callLog: CallLog, listener: ProgressListener) {
    this.#clock = clock;
    this.#turns = turns;
    this.#callLog = callLog;
    this.#listener = listener;
  }

  /** The first audio of a sentence went out. */
  unitStarted({ voice, outbound }: Media, unitId: string, atMs: number, heardMs: number): void {
    if (outbound.playout.marksAreMissing) this.#callLog.attachments.marksMissing();
    const policy = voice.reply?.policyOf(unitId);
    // Words outside a dialog reply.
    if (voice.reply === undefined || policy === undefined) return this.#callLog.interjected(outbound, unitId);
    this.#callLog.replyStarted(voice.reply.turnIndex, outbound, unitId, atMs, heardMs);
    this.#turns.feed({ type: 'sentence-started', atMs, policy, asks: isQuestion(outbound.ledger.textOf(unitId)) });
  }

  /** All of the reply was played. */
  played(media: Media, nowMs: number): void {
    if (media.outbound.playout.marksAreMissing) this.#callLog.attachments.marksMissing();
    const { turnIndex: turn = 0, isOfDialog } = media.voice.reply ?? {};
    media.voice.finished();
    this.#callLog.replyPlayed(turn, nowMs);
    if (isOfDialog === true && this.#callLog.conversation.greets(turn)) media.recording?.announced(nowMs);
    this.#callLog.turnOver(turn, media.outbound);
    if (this.#turns.state.dialog.expectation.message?.record === true) this.#callLog.voicemails.begin(media.recording);
    this.#turns.feed({ type: 'reply-played', atMs: nowMs });
    this.#listener.played(turn);
    void this.#listener.followUp(media).then(() => {
      if (!media.voice.speaking) this.#turns.feed({ type: 'heard-out', atMs: this.#clock.nowMs() });
    });
  }
}
