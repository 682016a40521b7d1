import type { CallLine } from '../call-line.ts';
import type { Media } from '../media.ts';
import { isQuestion } from '../turn/spoken-cues.ts';
import type { CarrierControl } from './carrier-control.ts';

/** Follows the bot's replies as they are played, for the log and the turns. */
export class ReplyProgress {
  readonly #line: CallLine;
  readonly #carrier: CarrierControl;
  readonly #answer: { replyPlayed(turn: number): void } | undefined;

  /** @param answer watches who answered an outbound call */
  constructor(line: CallLine, carrier: CarrierControl, answer: { replyPlayed(turn: number): void } | undefined) {
    this.#line = line;
    this.#carrier = carrier;
    this.#answer = answer;
  }

  /** The first audio of a sentence went out. */
  unitStarted({ voice, outbound }: Media, unitId: string, atMs: number, heardMs: number): void {
    if (outbound.playout.marksAreMissing) this.#line.log.attachments.marksMissing();
    const policy = voice.reply?.policyOf(unitId);
    // Words outside a dialog reply.
    if (voice.reply === undefined || policy === undefined) return this.#line.log.interjected(outbound, unitId);
    this.#line.log.replyStarted(voice.reply.turnIndex, outbound, unitId, atMs, heardMs);
    this.#line.feed({ type: 'sentence-started', atMs, policy, asks: isQuestion(outbound.ledger.textOf(unitId)) });
  }

  /** All of the reply was played. */
  played(media: Media, nowMs: number): void {
    if (media.outbound.playout.marksAreMissing) this.#line.log.attachments.marksMissing();
    const { turnIndex: turn = 0, isOfDialog } = media.voice.reply ?? {};
    media.voice.finished();
    this.#line.log.replyPlayed(turn, nowMs);
    if (isOfDialog === true && this.#line.log.conversation.greets(turn)) media.recording?.announced(nowMs);
    this.#line.log.turnOver(turn, media.outbound);
    if (this.#line.turn.dialog.expectation.message?.record === true) this.#line.log.voicemails.begin(media.recording);
    this.#line.feed({ type: 'reply-played', atMs: nowMs });
    this.#answer?.replyPlayed(turn);
    // Keys are pressed before the bot leaves.
    void this.#carrier.pressKeys(media.outbound).then(() => {
      if (!media.voice.speaking) this.#line.feed({ type: 'heard-out', atMs: this.#line.clock.nowMs() });
    });
  }
}
