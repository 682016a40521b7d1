import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { type CallerScript, FRAME_MS } from './load-sounds.ts';

/** Told of every frame that a call sends and gets; a benchmark compares them. */
export interface LoadTap {
  sent(call: number, frame: number, nowMs: number): void;
  /** @param dry the carrier had nothing left to play */
  got(call: number, audio: Buffer, dry: boolean): void;
  cleared(call: number): void;
}

/** The gateway's answer to what a caller did. */
export interface Reaction {
  readonly call: number;
  /** The frame in which the caller did it. */
  readonly frame: number;
  /** From that frame's sending to the first byte of the answer. */
  readonly afterMs: number;
}

/** What the calls of a run came to, from the carrier's side. */
export class LoadNotes {
  /** Nothing is counted while this is false. */
  measuring = false;
  /** How late frames were sent: the generator's own health. */
  readonly lateMs: number[] = [];
  /** From the end of a caller's sentence to the first sound of the answer. */
  readonly turns: Reaction[] = [];
  /** From the first frame of speech over the bot to `clear`. */
  readonly clears: Reaction[] = [];
  /** Turns without an answer when the caller's next one ended. */
  unanswered = 0;
  /** Gaps of more than a frame in the bot's voice. */
  holes = 0;
  /** Sockets that died in a call. */
  lost = 0;
}

/** What a caller did, and in which frame. */
interface Deed {
  readonly frame: number;
  readonly atMs: number;
}

const fromGateway = z.object({
  event: z.string(),
  media: z.object({ payload: z.string() }).optional(),
  mark: z.object({ name: z.string() }).optional(),
});

const BYTES_PER_MS = 8;
/** A longer silence is a pause between sentences, and no hole. */
const LONGEST_HOLE_MS = 500;
/** Ways in which a gateway ends a call by itself. */
const ENDED = new Set([1000, 1001, 1005]);

/** What the calls of a run share. */
export interface LoadRun {
  readonly script: CallerScript;
  readonly notes: LoadNotes;
  readonly clock: Clock;
  readonly tap?: LoadTap | undefined;
}

/** One caller: sends 20 ms when told to, and keeps the time of the carrier's playout buffer. */
export class LoadCall {
  readonly #socket: WebSocket;
  readonly #sid: string;
  readonly #number: number;
  readonly #run: LoadRun;
  readonly #marks: { readonly dueMs: number; readonly name: string }[] = [];
  #frames = 0;
  #playsUntilMs = 0;
  #endedSpeech: Deed | undefined;
  #talkedOver: Deed | undefined;
  #over = false;

  constructor(socket: WebSocket, callSid: string, number: number, run: LoadRun) {
    this.#socket = socket;
    this.#sid = `MZ${callSid.slice(2)}`;
    this.#number = number;
    this.#run = run;
    socket.on('message', (data: Buffer) => this.#onMessage(data, run.clock.nowMs()));
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      if (!this.#over && !ENDED.has(code)) run.notes.lost += 1;
      this.#over = true;
    });
    this.#send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const accountSid = `AC${'0'.repeat(32)}`;
    const start = { accountSid, streamSid: this.#sid, callSid, tracks: ['inbound'], mediaFormat, customParameters: {} };
    this.#send({ event: 'start', sequenceNumber: '1', start, streamSid: this.#sid });
  }

  get over(): boolean {
    return this.#over;
  }

  sendFrame(nowMs: number): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const [call, frame] = [this.#number, this.#frames];
    const { script, tap } = this.#run;
    // Written as text: the generator has to cost less than what it measures.
    const media = `{"track":"inbound","chunk":"${frame + 1}","timestamp":"${frame * FRAME_MS}","payload":"${script.frame(call, frame)}"}`;
    this.#socket.send(`{"event":"media","sequenceNumber":"${frame + 2}","media":${media},"streamSid":"${this.#sid}"}`);
    tap?.sent(call, frame, nowMs);
    this.#frames = frame + 1;
    const event = script.event(call, frame);
    if (event === 'speech-ends') this.#endSpeech(frame, nowMs);
    else if (event === 'talks-over') this.#talkOver(frame, nowMs);
    while (this.#marks[0] !== undefined && this.#marks[0].dueMs <= nowMs) this.#returnMark(this.#marks.shift()!.name);
  }

  hangUp(): void {
    if (this.#over) return;
    this.#over = true;
    this.#send({ event: 'stop', sequenceNumber: '0', streamSid: this.#sid, stop: {} });
    this.#socket.close(1000);
  }

  /** A caller who speaks while the bot does is not waiting for an answer. */
  #endSpeech(frame: number, nowMs: number): void {
    if (this.#endedSpeech !== undefined && this.#run.notes.measuring) this.#run.notes.unanswered += 1;
    this.#endedSpeech = nowMs > this.#playsUntilMs ? { frame, atMs: nowMs } : undefined;
  }

  /** Over the bot, or before a late answer: then one answer is for both turns. */
  #talkOver(frame: number, nowMs: number): void {
    if (nowMs < this.#playsUntilMs) this.#talkedOver = { frame, atMs: nowMs };
    this.#endedSpeech = undefined;
  }

  #onMessage(data: Buffer, nowMs: number): void {
    const { event, media, mark } = fromGateway.parse(JSON.parse(data.toString('latin1')));
    if (media !== undefined) this.#play(Buffer.from(media.payload, 'base64'), nowMs);
    else if (mark !== undefined) this.#marks.push({ dueMs: this.#playsUntilMs, name: mark.name });
    else if (event === 'clear') this.#clear(nowMs);
  }

  #play(audio: Buffer, nowMs: number): void {
    const { notes, tap } = this.#run;
    const dryMs = nowMs - this.#playsUntilMs;
    const isHole = dryMs > FRAME_MS && dryMs < LONGEST_HOLE_MS && this.#playsUntilMs > 0;
    if (isHole && notes.measuring) notes.holes += 1;
    tap?.got(this.#number, audio, dryMs > 0);
    this.#react(notes.turns, this.#endedSpeech, nowMs);
    this.#endedSpeech = undefined;
    this.#playsUntilMs = Math.max(nowMs, this.#playsUntilMs) + audio.length / BYTES_PER_MS;
  }

  #clear(nowMs: number): void {
    this.#run.tap?.cleared(this.#number);
    this.#react(this.#run.notes.clears, this.#talkedOver, nowMs);
    this.#talkedOver = undefined;
    this.#playsUntilMs = nowMs;
    for (const { name } of this.#marks.splice(0)) this.#returnMark(name);
  }

  #react(reactions: Reaction[], deed: Deed | undefined, nowMs: number): void {
    if (deed === undefined || !this.#run.notes.measuring) return;
    reactions.push({ call: this.#number, frame: deed.frame, afterMs: nowMs - deed.atMs });
  }

  #returnMark(name: string): void {
    this.#send({ event: 'mark', sequenceNumber: '0', streamSid: this.#sid, mark: { name } });
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}
