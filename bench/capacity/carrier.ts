// Many calls as a carrier would deliver them, from one process: one wheel of 20 slots paces all of them against the clock.
import { WebSocket } from 'ws';
import { CallLedger, type Ledger, type Reaction } from './ledger.ts';
import { type CallerAudio, type MediaWire, WIRES, type WireName } from './media-wires.ts';
import { FRAME_MS } from './sounds.ts';

export interface CarrierTarget {
  readonly url: string;
  /** What the voice webhook is signed with; undefined for a server that has none and takes any socket. */
  readonly authToken: string | undefined;
  /** Whether it sends every frame back, in their order. */
  readonly echoes: boolean;
  /** Whose messages are spoken. */
  readonly wire: WireName;
}

/** What a caller says: for each frame its audio on the wire, and whether it begins or ends speech. */
export interface CallerScript {
  audio(call: number, frame: number): CallerAudio;
  /** Whether speech ends with this frame, or begins with it over the bot. */
  event(call: number, frame: number): 'speech-ends' | 'talks-over' | undefined;
}

/** What a caller did, with the frame in which they did it. */
interface Deed {
  readonly frame: number;
  readonly atMs: number;
}

const SLOTS = FRAME_MS;

/** One call's socket, and the playout buffer at the carrier's end of it. */
class Call {
  readonly number: number;
  readonly ledger = new CallLedger();
  readonly #socket: WebSocket;
  readonly #wire: MediaWire;
  readonly #shared: Ledger;
  readonly #script: CallerScript;
  readonly #echoes: boolean;
  #echoed = 0;
  readonly #marks: { readonly dueMs: number; readonly name: string }[] = [];
  #playsUntilMs = 0;
  #endedSpeech: Deed | undefined;
  #talkedOver: Deed | undefined;
  holes = 0;
  clears = 0;

  constructor(number: number, socket: WebSocket, shared: Ledger, script: CallerScript, { echoes, wire }: CarrierTarget) {
    this.#echoes = echoes;
    this.#wire = WIRES[wire];
    this.number = number;
    this.#socket = socket;
    this.#shared = shared;
    this.#script = script;
    shared.calls[number] = this.ledger;
    socket.on('message', (data: Buffer, isBinary) => this.#message(data, isBinary));
    for (const message of this.#wire.start(number)) socket.send(message);
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  sendFrame(nowMs: number): void {
    const frame = this.ledger.frames;
    this.#socket.send(this.#wire.frame(this.number, frame, this.#script.audio(this.number, frame)));
    this.ledger.sentAtMs[frame % this.ledger.sentAtMs.length] = nowMs;
    this.ledger.frames = frame + 1;
    const event = this.#script.event(this.number, frame);
    if (event === 'speech-ends') this.#endSpeech(frame, nowMs);
    if (event === 'talks-over') this.#talkOver(frame, nowMs);
    while (this.#marks[0] !== undefined && this.#marks[0].dueMs <= nowMs) {
      const { name } = this.#marks.shift()!;
      this.#socket.send(this.#wire.mark(this.number, name));
    }
  }

  /** What the subject sends is not taken until then, as on a network that stalls. */
  stall(durationMs: number): void {
    this.#socket.pause();
    setTimeout(() => this.#socket.resume(), durationMs);
  }

  close(): void {
    const goodbye = this.#wire.stop(this.number);
    if (goodbye !== undefined) this.#socket.send(goodbye);
    this.#socket.close();
  }

  /** A turn ends. One without an answer by then, a pause and a turn later, never gets one. */
  #endSpeech(frame: number, nowMs: number): void {
    this.#react(this.#shared.unanswered, this.#endedSpeech, nowMs);
    this.#endedSpeech = { frame, atMs: nowMs };
  }

  /** Over the bot, or before a late answer: then this is more of the same turn, and one answer is for both. */
  #talkOver(frame: number, nowMs: number): void {
    if (nowMs < this.#playsUntilMs) this.#talkedOver = { frame, atMs: nowMs };
    this.#react(this.#shared.wentOn, this.#endedSpeech, nowMs);
    this.#endedSpeech = undefined;
  }

  #message(data: Buffer, isBinary: boolean): void {
    const nowMs = performance.now();
    const { audio, mark, clear } = this.#wire.read(data, isBinary);
    if (this.#echoes) this.#echo();
    else if (audio !== undefined) this.#play(audio, nowMs);
    else if (mark !== undefined) this.#marks.push({ dueMs: this.#playsUntilMs, name: mark });
    else if (clear === true) this.#clear(nowMs);
  }

  #echo(): void {
    this.#shared.echoed(this.number, this.#echoed);
    this.#echoed += 1;
  }

  #play(audio: Buffer, nowMs: number): void {
    const dryMs = nowMs - this.#playsUntilMs;
    if (this.#shared.measuring && dryMs > FRAME_MS && dryMs < 500 && this.#playsUntilMs > 0) this.holes += 1;
    this.#shared.played(this.number, audio, dryMs > 0);
    this.#react(this.#shared.turns, this.#endedSpeech, nowMs);
    this.#endedSpeech = undefined;
    this.#playsUntilMs = Math.max(nowMs, this.#playsUntilMs) + audio.length / 8;
  }

  #react(reactions: Reaction[], deed: Deed | undefined, nowMs: number): void {
    if (deed !== undefined && this.#shared.measuring)
      reactions.push({ call: this.number, frame: deed.frame, afterMs: nowMs - deed.atMs });
  }

  #clear(nowMs: number): void {
    this.clears += 1;
    this.#react(this.#shared.clears, this.#talkedOver, nowMs);
    this.#talkedOver = undefined;
    this.#playsUntilMs = nowMs;
    this.ledger.got = 0;
    const cleared = this.#marks.splice(0);
    if (this.#wire.returnsMarks) for (const { name } of cleared) this.#socket.send(this.#wire.mark(this.number, name));
  }
}

/** The calls of one run. */
export class Carrier {
  readonly calls: Call[] = [];
  /** How late frames were sent, in ms: the generator's own health. */
  readonly lateMs: number[] = [];
  readonly #target: CarrierTarget;
  readonly #ledger: Ledger;
  readonly #script: CallerScript;
  #timer: NodeJS.Timeout | undefined;
  #stalls: NodeJS.Timeout | undefined;
  #startedMs = 0;
  #ticks = 0;

  constructor(target: CarrierTarget, ledger: Ledger, script: CallerScript) {
    this.#target = target;
    this.#ledger = ledger;
    this.#script = script;
  }

  /** Places calls, a few at a time, so that nobody's first second is everybody's. */
  async place(count: number): Promise<void> {
    this.#startedMs = performance.now();
    this.#tick();
    for (let number = 0; number < count; number += 1) {
      const { protocols, headers } = WIRES[this.#target.wire];
      const options = { headers, perMessageDeflate: false, skipUTF8Validation: true };
      const socket = new WebSocket(await this.#streamUrl(number), [...protocols], options);
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
      this.calls.push(new Call(number, socket, this.#ledger, this.#script, this.#target));
    }
  }

  /** Stalls the network to each call so often, to one after the other, until they are hung up. */
  stallNetwork(everyMs: number, durationMs: number): void {
    let next = 0;
    this.#stalls = setInterval(() => {
      this.calls[next % this.calls.length]?.stall(durationMs);
      next += 1;
    }, everyMs / this.calls.length);
  }

  async hangUp(): Promise<void> {
    clearTimeout(this.#timer);
    clearInterval(this.#stalls);
    for (const call of this.calls) call.close();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }

  get holes(): number {
    return this.calls.reduce((sum, { holes }) => sum + holes, 0);
  }

  /** Calls whose socket was closed on them. */
  get lost(): number {
    return this.calls.filter(({ open }) => !open).length;
  }

  #tick(): void {
    const dueTicks = Math.floor(performance.now() - this.#startedMs);
    for (; this.#ticks <= dueTicks; this.#ticks += 1) {
      const dueMs = this.#startedMs + this.#ticks;
      for (let at = this.#ticks % SLOTS; at < this.calls.length; at += SLOTS) {
        const nowMs = performance.now();
        if (this.#ledger.measuring) this.lateMs.push(nowMs - dueMs);
        this.calls[at]!.sendFrame(nowMs);
      }
    }
    this.#timer = setTimeout(() => this.#tick(), 1);
  }

  async #streamUrl(number: number): Promise<string> {
    const { url, authToken, wire } = this.#target;
    return authToken === undefined ? `${url}/?call=${number}` : WIRES[wire].socketUrl(url, authToken, number);
  }
}
