import type { AudioFormat } from '../../audio/format.ts';
import type { Attachment } from '../../carriers/port.ts';
import type { EchoGuard } from '../inbound/echo/echo-guard.ts';
import { Ambience } from './ambience/ambience.ts';
import { Playout } from './playout.ts';
import { leadFor, type PlayoutLead } from './playout-pace.ts';
import { HeardLedger, type Sentence } from './heard-ledger.ts';
import type { SoundSink } from '../recording/heard-sound.ts';

interface OutboundParts {
  /** For the recording and for listeners. */
  readonly sound?: SoundSink | undefined;
  /** Background loop under the speech. */
  readonly ambience?: Int16Array | undefined;
  /** Called when the first audio of a sentence was sent, with when the carrier begins to play it. */
  readonly onStarted?: (unitId: string, atMs: number, heardMs: number) => void;
  /** Called when all words of a sentence have come whose audio began before them. */
  readonly onWorded?: (unitId: string) => void;
}

/**
 * The outbound side: sentences go in, paced audio goes out through the attached socket, and the ledger and the recording learn what the caller can
 * have heard. Outlives the socket: what its loss cut off is repeated on the next one.
 */
export class OutboundAudio {
  readonly ledger: HeardLedger;
  readonly playout: Playout;
  /** Format to synthesize speech in; pushed and sent audio has its rate. */
  readonly speechFormat: AudioFormat;
  readonly #samplesPerMs: number;
  readonly #frameMs: number;
  readonly #recording: SoundSink | undefined;
  #isLent = false;
  readonly #echo: EchoGuard;
  readonly #room: Ambience | undefined;
  #ambience: Ambience | undefined;
  readonly #onStarted: (unitId: string, atMs: number, heardMs: number) => void;
  readonly #onWorded: (unitId: string) => void;
  readonly #started = new Set<string>();
  #attachment: Attachment | undefined;
  /** Carrier timestamp of the caller's last frame. */
  #lineMs: number | undefined;

  constructor(attachment: Attachment, lead: PlayoutLead, echo: EchoGuard, parts: OutboundParts = {}) {
    const { sound, ambience, onStarted = () => undefined, onWorded = () => undefined } = parts;
    const { speechFormat, capabilities } = attachment;
    const { rateHz } = speechFormat;
    this.speechFormat = speechFormat;
    this.#samplesPerMs = rateHz / 1000;
    const { frameMs, marksWhenIdle = false } = capabilities;
    this.#frameMs = frameMs;
    this.#room = this.#roomOf(ambience);
    // With ambience, such a carrier is never idle.
    const marks = marksWhenIdle && this.#room !== undefined ? 'none' : capabilities.marks;
    this.#ambience = this.#room;
    const frameSamples = Math.max(1, frameMs * this.#samplesPerMs);
    // Written out, not spread, so that the settings of all calls share one hidden class.
    const { leadLowMs, leadTargetMs, leadMaxMs, messageMs, markEveryMs } = leadFor(capabilities, lead);
    const settings = { leadLowMs, leadTargetMs, leadMaxMs, messageMs, markEveryMs, rateHz, marks, marksWhenIdle, frameSamples };
    this.playout = new Playout(settings);
    this.ledger = new HeardLedger(rateHz);
    this.#recording = sound;
    this.#echo = echo;
    this.#onStarted = onStarted;
    this.#onWorded = onWorded;
    this.#attachment = attachment;
  }

  begin(sentence: Sentence): void {
    this.ledger.queued(sentence);
    this.playout.begin(sentence.unitId);
  }

  push(unitId: string, pcm: Int16Array, nowMs: number): void {
    this.ledger.audio(unitId, pcm.length);
    this.playout.push(unitId, pcm);
    this.pump(nowMs);
  }

  /** @param whole false when synthesis broke off */
  end(unitId: string, nowMs: number, whole = true): void {
    if (whole) this.ledger.complete(unitId);
    else this.ledger.broken(unitId);
    this.playout.end(unitId);
    this.pump(nowMs);
    if (!this.ledger.grows(unitId)) return;
    this.ledger.worded(unitId);
    if (this.#started.has(unitId)) this.#onWorded(unitId);
  }

  /** Ends these sounds early, before anything more is sent. @returns the ms that will never be sent */
  shorten(unitIds: readonly string[], nowMs: number): number {
    let droppedSamples = 0;
    for (const unitId of unitIds) {
      const dropped = this.playout.shorten(unitId);
      this.ledger.audio(unitId, -dropped);
      this.ledger.complete(unitId);
      droppedSamples += dropped;
    }
    this.pump(nowMs);
    return droppedSamples / this.#samplesPerMs;
  }

  /** Sends what is due, and reports what was played. */
  pump(nowMs: number): void {
    const attachment = this.#attachment;
    if (attachment === undefined || this.#isLent) return;
    for (const command of this.playout.pump(nowMs)) {
      if (command.type === 'mark') {
        attachment.sendMark(command.name);
        continue;
      }
      const { pcm } = command;
      attachment.sendAudio(this.#ambience?.under(pcm) ?? pcm);
      this.#recording?.bot(pcm, command.startMs, nowMs);
      this.#echo.sent(pcm, command.startMs, this.playout.lateMs);
      this.#echo.spoken.sounds(
        command.unitId,
        this.ledger.textOf(command.unitId),
        command.startMs + pcm.length / this.#samplesPerMs,
      );
      if (!this.#started.has(command.unitId)) {
        this.#started.add(command.unitId);
        this.ledger.starts(command.unitId, command.startMs);
        this.#onStarted(command.unitId, nowMs, command.startMs);
      }
    }
    for (const played of this.playout.takePlayed()) this.ledger.played(played.unitId, played.byMark);
    this.#fill(attachment, nowMs);
  }

  /** Sends ambience between replies. */
  #fill(attachment: Attachment, nowMs: number): void {
    const ambience = this.#ambience;
    const audio = ambience?.alone(this.playout.endMs, nowMs);
    if (ambience === undefined || audio === undefined) return;
    attachment.sendAudio(audio);
    this.playout.ambientEndMs = ambience.endMs;
  }

  /** Another speaker takes the line: clears the carrier and pauses the bot. */
  lend(nowMs: number): void {
    if (!this.playout.idle || this.playout.isAudible(nowMs) || nowMs < this.playout.ambientEndMs) this.clear(nowMs);
    this.playout.discardCut();
    this.playout.release();
    this.#isLent = true;
  }

  takeBack(): void {
    this.#isLent = false;
  }

  /** The other speaker's audio was sent. @param startMs when it begins to be heard */
  lentSound(pcm: Int16Array, startMs: number, nowMs: number): void {
    this.#recording?.bot(pcm, startMs, nowMs);
    this.#echo.sent(pcm, startMs, this.playout.lateMs);
    // The bot's next words are heard after it.
    this.playout.ambientEndMs = startMs + pcm.length / this.#samplesPerMs;
  }

  /** Replaces the ambience for a caller on hold. @param loop the hold sound; undefined for the ambience again */
  hold(loop: Int16Array | undefined): void {
    const endMs = this.#ambience?.endMs ?? Number.NEGATIVE_INFINITY;
    this.#ambience = this.#roomOf(loop) ?? this.#room;
    this.#ambience?.cut(endMs);
    this.playout.ambientEndMs = endMs;
  }

  #roomOf(loop: Int16Array | undefined): Ambience | undefined {
    return loop && new Ambience(loop, this.speechFormat.rateHz, this.#frameMs);
  }

  markReturned(name: string, nowMs: number): void {
    this.playout.markReturned(name, nowMs, this.#lineMs);
    for (const { unitId, sureSamples, likelySamples } of this.playout.takePlaced())
      this.ledger.cut(unitId, sureSamples, likelySamples);
    this.pump(nowMs);
  }

  /** Caller audio arrived. @param timestampMs the carrier's, if it gives any */
  arrived(timestampMs: number | undefined, nowMs: number): void {
    this.#lineMs = timestampMs;
    this.#ambience?.arrived(timestampMs, nowMs);
  }

  /** Takes back all unplayed audio, also at the carrier. */
  clear(nowMs: number): void {
    const { clear, marks } = this.#attachment?.capabilities ?? {};
    if (clear === 'native') this.#attachment?.sendClear();
    this.#cut(nowMs, clear === 'native' ? Number.NEGATIVE_INFINITY : Math.max(this.playout.endMs, this.playout.ambientEndMs));
    if (clear === 'native' && marks === 'native') this.#attachment?.sendMark(this.playout.cutMark);
  }

  detach(nowMs: number, reason: string): void {
    this.#cut(nowMs, Number.NEGATIVE_INFINITY);
    this.#recording?.detached(nowMs, reason);
    this.#attachment = undefined;
  }

  reattach(attachment: Attachment, nowMs: number): void {
    this.#attachment = attachment;
    this.playout.restore();
    this.pump(nowMs);
  }

  /** @param keepsUntilMs end of what the carrier keeps playing */
  #cut(nowMs: number, keepsUntilMs: number): void {
    for (const position of this.playout.clear(nowMs, Number.isFinite(keepsUntilMs))) {
      this.ledger.cut(position.unitId, position.sureSamples, position.likelySamples);
    }
    this.#ambience?.cut(keepsUntilMs);
    this.playout.ambientEndMs = this.#ambience?.endMs ?? Number.NEGATIVE_INFINITY;
    const heardUntilMs = Math.max(nowMs, keepsUntilMs);
    this.#recording?.cleared(heardUntilMs);
    this.#echo.cleared(heardUntilMs);
  }
}
