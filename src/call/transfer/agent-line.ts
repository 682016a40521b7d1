import type { Attachment, CarrierWitness, MediaEvent } from '../../carriers/port.ts';
import type { AllowedTarget } from '../../config/allowed-target.ts';
import type { AnsweredBy } from '../../config/answered-by.ts';
import type { Bot } from '../../config/bots.ts';
import { type AnswerEvent, answered, stepAnswer } from '../answering/classifier.ts';
import { FrameSounds } from '../answering/frame-sound.ts';
import type { CarrierServices } from '../control/carrier-control.ts';
import { EchoGuard } from '../inbound/echo/echo-guard.ts';
import { InboundAudio } from '../inbound/inbound-audio.ts';
import type { MediaServices } from '../media.ts';
import { BotVoice } from '../outbound/bot-voice.ts';
import { OutboundAudio } from '../outbound/outbound-audio.ts';
import type { CallLegs, OpenLeg } from './agent-legs.ts';

export interface AgentLegServices extends MediaServices, CarrierServices {
  readonly legs: CallLegs;
}

export interface AgentOrder {
  readonly leg: OpenLeg;
  readonly bot: Bot;
  /** E.164, both. */
  readonly from: string;
  readonly to: AllowedTarget;
  readonly ringMs: number;
  /** What the agent hears, and how to take the call; without the unspeakable parts. */
  readonly brief: string;
  /** Repeated until a key is pressed. */
  readonly keys: string;
  readonly language: string;
  readonly voice: string | undefined;
}

/** Longest wait for the agent's hello before the brief. */
const HELLO_MS = 4_000;
/** Interval between requests for a key. */
const ASK_AGAIN_MS = 4_000;
const MACHINES: ReadonlySet<AnsweredBy> = new Set(['mailbox', 'mailbox-full', 'screening', 'ivr', 'fax', 'bot', 'hold']);
const NO_TIMES = { add: () => undefined };

interface LineListener {
  machine(by: AnsweredBy): void;
  unspeakable(error: unknown): void;
  /** The brief was heard to its end once. */
  briefed(): void;
}

/** The audio of the agent's leg until the call is taken: plays the brief, and checks that a person listens. */
export class AgentLine {
  readonly attachment: Attachment;
  readonly #order: AgentOrder;
  readonly #services: AgentLegServices;
  readonly #listener: LineListener;
  readonly #outbound: OutboundAudio;
  readonly #voice: BotVoice;
  readonly #inbound: InboundAudio;
  readonly #sounds = new FrameSounds();
  readonly #answeredMs: number;
  readonly #stopTicking: () => void;
  #answer = answered();
  #said = 0;
  #speaks = false;
  #isSilent = false;
  /** When something is to be said next. */
  #dueMs: number;

  constructor(attachment: Attachment, order: AgentOrder, services: AgentLegServices, listener: LineListener) {
    const { clock, playout, createDetector, ticker } = services;
    this.attachment = attachment;
    this.#order = order;
    this.#services = services;
    this.#listener = listener;
    this.#answeredMs = clock.nowMs();
    this.#dueMs = this.#answeredMs + HELLO_MS;
    const echo = new EchoGuard(attachment.speechFormat.rateHz);
    this.#outbound = new OutboundAudio(attachment, playout, echo);
    this.#voice = new BotVoice(order.bot, services, this.#outbound, NO_TIMES, {
      synthesisFailed: (error) => listener.unspeakable(error),
      soundMissing: () => undefined,
    });
    this.#inbound = new InboundAudio(createDetector(), echo, () => undefined, {
      watch: (pcm, { atMs, voiced, speechLike }) => {
        const frame = { ...this.#sounds.measure(pcm), atMs: this.#since(atMs), voiced, speechLike };
        this.#take({ type: 'frame', frame });
      },
      rateHz: attachment.rateHz,
    });
    this.#stopTicking = ticker.add((nowMs) => this.#tick(nowMs));
  }

  hear({ pcm, timestampMs }: MediaEvent & { readonly type: 'audio' }): void {
    const { clock } = this.#services;
    const nowMs = clock.nowMs();
    this.#outbound.arrived(timestampMs, nowMs);
    this.#inbound.hear(pcm, timestampMs, { nowMs, wallMs: clock.wallMs(), silent: false }, { send: () => undefined });
  }

  /** The carrier's own answer detection reports. */
  take(witness: CarrierWitness): void {
    this.#take({ type: 'witness', atMs: this.#since(this.#services.clock.nowMs()), witness });
  }

  mark(name: string): void {
    this.#outbound.markReturned(name, this.#services.clock.nowMs());
  }

  /** Stops speaking and clears the carrier: the caller comes next. */
  silence(): void {
    if (this.#isSilent) return;
    this.#isSilent = true;
    this.#stopTicking();
    this.#voice.abort();
    this.#outbound.clear(this.#services.clock.nowMs());
    this.#inbound.close();
  }

  close(): void {
    this.silence();
    this.attachment.close('the leg is over');
  }

  #since(atMs: number): number {
    return Math.max(0, atMs - this.#answeredMs);
  }

  #take(event: AnswerEvent): void {
    const before = this.#answer.opinion;
    this.#answer = stepAnswer(this.#answer, event);
    const { opinion } = this.#answer;
    if (opinion === undefined || opinion === before) return;
    if (MACHINES.has(opinion.by)) this.#listener.machine(opinion.by);
    else if (opinion.by === 'person' && this.#said === 0) this.#dueMs = this.#services.clock.nowMs();
  }

  #tick(nowMs: number): void {
    this.#outbound.pump(nowMs);
    const speaks = this.#outbound.playout.isAudible(nowMs);
    if (speaks !== this.#speaks) {
      this.#speaks = speaks;
      this.#take({ type: 'bot', atMs: this.#since(nowMs), speaks });
    }
    if (this.#voice.played) {
      this.#voice.finished();
      if (this.#said === 1) this.#listener.briefed();
      this.#dueMs = nowMs + ASK_AGAIN_MS;
    }
    if (nowMs < this.#dueMs || this.#voice.speaking) return;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#say(this.#said === 0 ? `${this.#order.brief} ${this.#order.keys}` : this.#order.keys);
  }

  #say(text: string): void {
    const { language, voice } = this.#order;
    const reply = this.#voice.start(this.#said);
    this.#said += 1;
    this.#voice.say(reply, { type: 'say', text, interruptible: 'never', language, ...(voice === undefined ? {} : { voice }) });
    reply.close();
  }
}
