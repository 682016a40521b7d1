import type { CarrierWitness } from '../../carriers/port.ts';
import type { Bot } from '../../config/bots.ts';
import type { CallLine } from '../call-line.ts';
import type { CarrierControl } from '../control/carrier-control.ts';
import type { DialogServices } from '../control/dialog-driver.ts';
import { type DiallingIdentity, lockedOpening, mailboxClosing } from '../control/duties.ts';
import type { OutboundFacts } from '../log/call-record.ts';
import type { VoiceFrame } from '../turn/evidence.ts';
import { addFinal, addPartial, NO_WORDS, provisionalText, type TurnWords } from '../turn/transcript.ts';
import type { TurnEvent } from '../turn/turn-state.ts';
import { type AnswerAct, type AnswerPlan, FIRST_PLAN, LISTENED_MS, stepPlan } from './answer-plan.ts';
import { type AnswerEvent, type AnswerState, answered, stepAnswer } from './classifier.ts';
import { FrameSounds } from './frame-sound.ts';

interface WatchParts {
  readonly carrier: CarrierControl;
  /** The watch leaves the answer to an operator who has taken the call over. */
  readonly takeOver: { readonly by: string | undefined };
}

/** Silence suppression: after so long without a frame, time is counted as silence. */
const AWAY_MS = 1_000;
/** End reason of a call that left its message on a mailbox. */
const MESSAGE_LEFT = 'message-left';
/** Duty that a mailbox cannot use. */
const IN_CALL = 'opt-out-in-call';

/**
 * Classifies who answered an outbound call, and does what the bot's settings say for a person, a mailbox and so on. Turns begin when a person is
 * likely, and end where it was a machine after all.
 */
export class AnswerWatch {
  readonly #bot: Bot;
  readonly #line: CallLine;
  readonly #parts: WatchParts;
  readonly #facts: OutboundFacts;
  readonly #dialling: DiallingIdentity;
  readonly #sounds = new FrameSounds();
  #state: AnswerState = answered();
  #plan: AnswerPlan = FIRST_PLAN;
  /** All that was recognised so far. */
  #words: TurnWords = NO_WORDS;
  #startedMs: number | undefined;
  #lastFrameMs = Number.NEGATIVE_INFINITY;
  #botSpeaks = false;
  /** The turns that are left on a mailbox. */
  readonly #messageTurns: number[] = [];
  /** Closing words that the message must still end with; empty where none are due, or they were said. */
  #closing: string;

  /** @param facts of the outbound call */
  constructor(line: CallLine, facts: OutboundFacts, { dialling }: Pick<DialogServices, 'dialling'>, parts: WatchParts) {
    const { bot } = line.identity;
    this.#bot = bot;
    this.#line = line;
    this.#parts = parts;
    this.#facts = facts;
    this.#dialling = dialling;
    this.#closing = mailboxClosing(bot, dialling, facts.duties) ?? '';
  }

  /** The media of the answered call is here. */
  started(nowMs: number): void {
    this.#startedMs = nowMs;
    this.#lastFrameMs = nowMs;
    this.#line.feed({ type: 'dialled-answered', atMs: nowMs });
  }

  /** The carrier's own answer detection reports. */
  witness(witness: CarrierWitness): void {
    this.#take({ type: 'witness', atMs: this.#sinceAnswer(this.#line.clock.nowMs()), witness });
  }

  /** 20 ms of the line. @param pcm not kept */
  frame(pcm: Int16Array, { atMs, voiced, speechLike }: VoiceFrame): void {
    this.#lastFrameMs = this.#line.clock.nowMs();
    if (this.#isOver) return;
    const frame = { ...this.#sounds.measure(pcm), atMs: this.#sinceAnswer(atMs), voiced, speechLike };
    this.#take({ type: 'frame', frame });
  }

  /** A turn event: the other side's words and keys are evidence. */
  heard(event: TurnEvent): void {
    if (event.type === 'digit') this.#take({ type: 'digit', atMs: this.#sinceAnswer(event.atMs) });
    if (event.type !== 'partial' && event.type !== 'final') return;
    const { type, seg, text } = event;
    this.#words = type === 'partial' ? addPartial(this.#words, seg, text) : addFinal(this.#words, seg, text);
    this.#take({ type, atMs: this.#sinceAnswer(event.atMs), seg, text });
  }

  tick(nowMs: number): void {
    const speaks = this.#line.media?.outbound.playout.isAudible(nowMs) === true;
    const atMs = this.#sinceAnswer(nowMs);
    if (speaks !== this.#botSpeaks) {
      this.#botSpeaks = speaks;
      this.#take({ type: 'bot', atMs, speaks });
    } else if (nowMs - this.#lastFrameMs >= AWAY_MS) this.#take({ type: 'time', atMs });
  }

  /** The whole reply was played: the message may have to continue. */
  replyPlayed(turn: number): void {
    if (this.#closing === '' || !this.#messageTurns.includes(turn)) return;
    this.#messageTurns.push(this.#say([this.#closing], this.#line.clock.nowMs()));
    this.#closing = '';
    this.#line.feed({ type: 'leave-after-reply', reason: MESSAGE_LEFT });
  }

  /** The call ends. @returns the reason, replaced where the kind of answer decides it */
  ended(reason: string): string {
    const isWhole = this.#messageIsWhole();
    if (isWhole) this.#line.log.outbound?.messageLeft('all');
    if (reason === MESSAGE_LEFT && !isWhole) return 'mailbox';
    return reason === 'no-input' && this.#state.opinion?.by === 'silence' ? 'silence' : reason;
  }

  /** Whether the ledger has every sentence of the message as heard. */
  #messageIsWhole(): boolean {
    const said = this.#line.media?.outbound.ledger.sentences() ?? [];
    const message = said.filter(({ turnIndex }) => this.#messageTurns.includes(turnIndex));
    return (
      message.length > 0 &&
      this.#closing === '' &&
      message.every(({ heardText, unheardText }) => heardText !== '' && unheardText === '')
    );
  }

  /** A party that has been greeted this long is taken for a person. */
  get #isOver(): boolean {
    return this.#plan.stage === 'greeted' && this.#state.hearing.atMs >= LISTENED_MS;
  }

  #sinceAnswer(atMs: number): number {
    return this.#startedMs === undefined ? 0 : Math.max(0, atMs - this.#startedMs);
  }

  #take(event: AnswerEvent): void {
    if (this.#isOver) return;
    const before = this.#state.opinion;
    this.#state = stepAnswer(this.#state, event);
    const { opinion } = this.#state;
    if (opinion !== undefined && opinion !== before) this.#line.log.answeredBy(opinion);
    if (this.#startedMs === undefined) return;
    const { plan, acts } = stepPlan(this.#bot.answered, this.#plan, this.#state, this.#botSpeaks);
    this.#plan = plan;
    for (const act of acts) this.#do(act);
  }

  #do(act: AnswerAct): void {
    if (this.#parts.takeOver.by !== undefined) return;
    const { media } = this.#line;
    const atMs = this.#line.clock.nowMs();
    switch (act.type) {
      case 'greet':
        this.#messageTurns.length = 0;
        return this.#line.feed({
          type: 'person-answered',
          atMs,
          afterSeg: this.#state.episode.asked,
          silences: media?.voice.speaking === true,
        });
      case 'to-machine':
        return this.#line.feed({ type: 'machine-answered', atMs });
      case 'introduce': {
        const { screening } = this.#bot.answered;
        if (screening !== 'hang-up') this.#say([this.#filled(screening.say)], atMs);
        return;
      }
      case 'leave-message':
        return this.#leaveMessage(atMs);
      case 'press':
        if (media !== undefined) this.#parts.carrier.pressNow(act.keys, media.outbound);
        return;
      case 'hang-up':
        return this.#line.hangUp(act.reason);
    }
  }

  #leaveMessage(atMs: number): void {
    const { mailbox } = this.#bot.answered;
    if (mailbox === 'hang-up') return;
    this.#line.log.outbound?.messageLeft('part');
    if (mailbox.message === undefined) {
      this.#line.feed({ type: 'message-due', atMs });
      this.#messageTurns.push(this.#line.log.conversation.current);
    } else {
      const duties = this.#facts.duties.filter(({ duty }) => duty !== IN_CALL);
      const opening = lockedOpening(this.#bot, this.#dialling, duties);
      this.#messageTurns.push(this.#say([...opening, this.#filled(mailbox.message)], atMs));
    }
    if (this.#closing === '') this.#line.feed({ type: 'leave-after-reply', reason: MESSAGE_LEFT });
  }

  /** @returns the turn these words belong to */
  #say(texts: readonly string[], atMs: number): number {
    const { conversation } = this.#line.log;
    const turn = conversation.open({ kind: 'start', heard: provisionalText(this.#words) }, this.#line.clock.wallMs());
    this.#line.feed({ type: 'bot-started', atMs, policy: 'never' });
    this.#line.media?.voice.interject(texts.join(' '), turn, 'never');
    return turn;
  }

  /** A text with the call's variables; an unknown one is empty. One pass: values are never read as templates. */
  #filled(template: string): string {
    const { variables } = this.#line.log.memory;
    const text = template.replaceAll(PLACEHOLDER, (_match, name: string) =>
      Object.hasOwn(variables, name) ? (variables[name] ?? '') : '',
    );
    return text.replaceAll(/\s+/gu, ' ').trim();
  }
}

const PLACEHOLDER = /\{\{\s*([A-Za-z][\w-]*)\s*\}\}/gu;
