import { encodeAudio } from '../../audio/codec.ts';
import type { AudioFormat } from '../../audio/format.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';

/** What the simulated model says or calls in one answer, in this order. */
export interface SimulatedReply {
  readonly say?: string;
  readonly calls?: readonly { readonly name: string; readonly args: object }[];
}

/** What the model was given for an answer. */
export interface ModelTurn {
  /** Counts the answers of the conversation, over all sessions, from 0. */
  readonly index: number;
  /** Texts and results since the answer before, oldest first, each with who said it: `system: (…)`. */
  readonly given: readonly string[];
  /** Audio of the caller since then, in ms. */
  readonly audioMs: number;
  /** Speeches of its own in this session that were not withdrawn: an answer that is asked for again has the same number. */
  readonly said: number;
  /** Results of its calls in this session. */
  readonly results: number;
}

export type SimulatedScript = (turn: ModelTurn) => SimulatedReply;

/** What the server does instead of its part in one answer. */
export type RealtimeFault =
  /** The connection breaks: before the answer, or after so much of its audio. */
  | { readonly kind: 'drop'; readonly afterMs: number }
  /** The answer begins so much later. */
  | { readonly kind: 'slow'; readonly byMs: number }
  | { readonly kind: 'rate-limit' }
  /** An error event comes first, and the session goes on. */
  | { readonly kind: 'error' }
  /** Messages that are not of the protocol come first. */
  | { readonly kind: 'garbage' }
  /** Audio goes on for a while after the answer was stopped. */
  | { readonly kind: 'late-audio' }
  /** Nothing comes. */
  | { readonly kind: 'silent' }
  /** Nothing more comes after so much of its audio. */
  | { readonly kind: 'hang'; readonly afterMs: number };

export interface SimulatedRealtimeOptions {
  readonly clock: Clock;
  readonly script: SimulatedScript;
  /** @param index of the answer */
  readonly fault?: ((index: number) => RealtimeFault | undefined) | undefined;
  /** The key that is asked for; any where absent. */
  readonly apiKey?: string;
  /** From a request to the first audio, in ms. */
  readonly thinkMs?: number;
  /** A session is ended after this long. */
  readonly sessionMs?: number;
  /** Status with which upgrade number `index` is refused. */
  readonly refuse?: (index: number) => number | undefined;
}

/** One message of the conversation as the server has it. */
export interface SimulatedItem {
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system' | 'result';
  text: string;
  /** Length of its audio; 0 for a text. */
  audioMs: number;
  /** Up to where it was heard, where the client has said so. */
  heardMs?: number;
  isDeleted?: boolean;
}

/** A client's end of one connection. */
export interface SimulatedPeer {
  send(frame: string): void;
  close(code: number, reason: string): void;
  /** The connection breaks. */
  terminate(): void;
}

/** The server's end of one connection. */
export interface SimulatedSession {
  findTurnOver?(): void;
  receive(frame: string): void;
  gone(): void;
}

const MS_PER_CHARACTER = 60;
const CHUNK_MS = 200;
/** Audio is made this much faster than it is played. */
const SPEED = 5;
const DEFAULT_THINK_MS = 200;
const HZ = 220;

/** A steady voice of this length: loud enough to count as sound. */
function voiceOf(format: AudioFormat, ms: number): Uint8Array {
  const pcm = new Int16Array(Math.round((format.rateHz * ms) / 1000));
  for (let at = 0; at < pcm.length; at += 1)
    pcm[at] = Math.round(8_000 * Math.sin((2 * Math.PI * HZ * at) / format.rateHz) * (0.6 + 0.4 * Math.sin(at / 900)));
  return encodeAudio(format.encoding, pcm);
}

/** Takes an answer as it is made. */
export interface AnswerSink {
  readonly format: AudioFormat;
  begun(): void;
  /** A piece of a speech: words and the audio of them. */
  speech(words: string, audio: Uint8Array, ms: number): void;
  spoken(): void;
  call(name: string, args: object): void;
  done(): void;
  failed(): void;
  /** Something else than an answer. */
  frame(text: string): void;
  error(): void;
  drop(): void;
}

/** Makes one answer in time: faster than real time, with its words beside the audio. */
export class SimulatedAnswer {
  /** Audio made so far, in ms. */
  madeMs = 0;
  isOver = false;
  readonly #clock: Clock;
  readonly #sink: AnswerSink;
  readonly #fault: RealtimeFault | undefined;
  #timer: Timer | undefined;
  #begun = false;

  constructor(clock: Clock, reply: SimulatedReply, thinkMs: number, fault: RealtimeFault | undefined, sink: AnswerSink) {
    this.#clock = clock;
    this.#sink = sink;
    this.#fault = fault;
    if (fault?.kind === 'silent') return;
    if (fault?.kind === 'garbage') {
      sink.frame('this is no JSON');
      sink.frame('{"type":42}');
      sink.frame('[]');
    }
    if (fault?.kind === 'error') sink.error();
    if (fault?.kind === 'drop' && fault.afterMs === 0) {
      this.isOver = true;
      sink.drop();
      return;
    }
    const delayMs = thinkMs + (fault?.kind === 'slow' ? fault.byMs : 0);
    this.#timer = clock.after(delayMs, () => {
      this.#begun = true;
      sink.begun();
      if (fault?.kind === 'rate-limit') {
        this.isOver = true;
        return sink.failed();
      }
      this.#speak((reply.say ?? '').split(''), reply);
    });
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** Stops it. With late audio, some pieces more come. */
  stop(): void {
    this.#timer?.cancel();
    this.isOver = true;
    if (this.#fault?.kind !== 'late-audio') return;
    for (let piece = 0; piece < 3; piece += 1)
      this.#clock.after(50 * (piece + 1), () => this.#sink.speech(' late', voiceOf(this.#sink.format, CHUNK_MS), CHUNK_MS));
  }

  #speak(rest: string[], reply: SimulatedReply): void {
    if (rest.length === 0) return this.#end(reply);
    const ms = Math.min(CHUNK_MS, rest.length * MS_PER_CHARACTER);
    const words = rest.splice(0, Math.ceil(CHUNK_MS / MS_PER_CHARACTER)).join('');
    this.madeMs += ms;
    this.#sink.speech(words, voiceOf(this.#sink.format, ms), ms);
    if (this.#fault?.kind === 'drop' && this.madeMs >= this.#fault.afterMs) {
      this.isOver = true;
      return this.#sink.drop();
    }
    if (this.#fault?.kind === 'hang' && this.madeMs >= this.#fault.afterMs) return;
    this.#timer = this.#clock.after(ms / SPEED, () => this.#speak(rest, reply));
  }

  #end({ say, calls = [] }: SimulatedReply): void {
    this.isOver = true;
    if (say !== undefined) this.#sink.spoken();
    for (const { name, args } of calls) this.#sink.call(name, args);
    this.#sink.done();
  }
}

/** What all sessions of a simulated vendor share. */
export abstract class SimulatedRealtime {
  readonly options: SimulatedRealtimeOptions;
  /** Messages of each session, oldest first. */
  readonly conversations: SimulatedItem[][] = [];
  /** What the client did against the protocol. */
  readonly complaints: string[] = [];
  /** Requests of each session, as they came, without audio. */
  readonly received: Record<string, unknown>[][] = [];
  #answers = 0;
  readonly #peers = new Set<SimulatedPeer>();
  readonly #sessions = new Set<SimulatedSession>();

  constructor(options: SimulatedRealtimeOptions) {
    this.options = options;
  }

  /** Sessions so far. */
  get sessions(): number {
    return this.conversations.length;
  }

  /** The conversation of the last session. */
  get conversation(): readonly SimulatedItem[] {
    return this.conversations.at(-1) ?? [];
  }

  /** Answers so far, over all sessions. */
  get answers(): number {
    return this.#answers;
  }

  protected abstract begin(peer: SimulatedPeer): SimulatedSession;

  /** A client has connected. */
  connect(peer: SimulatedPeer): SimulatedSession {
    const session = this.begin(peer);
    this.#sessions.add(session);
    return session;
  }

  /** The header that has the key, and what is before it. */
  abstract readonly keyHeader: readonly [name: string, prefix: string];

  protected opened(peer: SimulatedPeer): { items: SimulatedItem[]; events: Record<string, unknown>[] } {
    this.#peers.add(peer);
    const [items, events]: [SimulatedItem[], Record<string, unknown>[]] = [[], []];
    this.conversations.push(items);
    this.received.push(events);
    return { items, events };
  }

  protected closed(peer: SimulatedPeer): void {
    this.#peers.delete(peer);
  }

  /** The server's own detection finds the caller's turn over, in every session. */
  findTurnOver(): void {
    for (const session of this.#sessions) session.findTurnOver?.();
  }

  /** Breaks every connection. */
  dropAll(): void {
    for (const peer of this.#peers) peer.terminate();
  }

  protected answer(
    items: readonly SimulatedItem[],
    given: readonly string[],
    audioMs: number,
    sink: AnswerSink,
  ): SimulatedAnswer {
    const index = this.#answers;
    this.#answers += 1;
    const { clock, script, fault, thinkMs = DEFAULT_THINK_MS } = this.options;
    const said = items.filter((item) => item.role === 'assistant' && item.audioMs > 0 && item.isDeleted !== true).length;
    const results = items.filter(({ role }) => role === 'result').length;
    return new SimulatedAnswer(clock, script({ index, given, audioMs, said, results }), thinkMs, fault?.(index), sink);
  }
}
