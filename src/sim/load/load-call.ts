import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { type CallerRound, FRAME_MS } from './load-sounds.ts';

/** What the calls of a run came to, from the carrier's side. */
export interface LoadNotes {
  /** Nothing is counted while this is false. */
  measuring: boolean;
  /** How late frames were sent: the generator's own health. */
  readonly lateMs: number[];
  /** From the end of a caller's sentence to the first sound of the answer. */
  readonly turnMs: number[];
  /** Sockets that died in a call. */
  lost: number;
}

const fromGateway = z.object({
  event: z.string(),
  media: z.object({ payload: z.string() }).optional(),
  mark: z.object({ name: z.string() }).optional(),
});

const BYTES_PER_MS = 8;
/** Ways in which a gateway ends a call by itself. */
const ENDED = new Set([1000, 1001, 1005]);

/** One caller: sends 20 ms when told to, and keeps the time of the carrier's playout buffer. */
export class LoadCall {
  readonly #socket: WebSocket;
  readonly #sid: string;
  readonly #round: CallerRound;
  readonly #notes: LoadNotes;
  readonly #marks: { readonly dueMs: number; readonly name: string }[] = [];
  /** Where in the round this caller begins, so that not all speak at once. */
  readonly #offset: number;
  #frames = 0;
  #sequence = 1;
  #playsUntilMs = 0;
  #endedSpeechMs: number | undefined;
  #over = false;

  /** @param number tells callers apart: they begin at different places of the round */
  constructor(socket: WebSocket, callSid: string, number: number, round: CallerRound, notes: LoadNotes, clock: Clock) {
    this.#socket = socket;
    this.#sid = `MZ${callSid.slice(2)}`;
    this.#round = round;
    this.#notes = notes;
    this.#offset = round.lastVoiced + 1 + ((number * 37) % (round.frames.length - round.lastVoiced - 1));
    socket.on('message', (data: Buffer) => this.#onMessage(data, clock.nowMs()));
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      if (!this.#over && !ENDED.has(code)) notes.lost += 1;
      this.#over = true;
    });
    this.#send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const accountSid = `AC${'0'.repeat(32)}`;
    const start = { accountSid, streamSid: this.#sid, callSid, tracks: ['inbound'], mediaFormat, customParameters: {} };
    this.#send({ event: 'start', sequenceNumber: this.#next(), start, streamSid: this.#sid });
  }

  get over(): boolean {
    return this.#over;
  }

  sendFrame(nowMs: number): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const place = (this.#offset + this.#frames) % this.#round.frames.length;
    const payload = this.#round.frames[place]!;
    const media = { track: 'inbound', chunk: String(this.#frames + 1), timestamp: String(this.#frames * FRAME_MS), payload };
    this.#send({ event: 'media', sequenceNumber: this.#next(), media, streamSid: this.#sid });
    this.#frames += 1;
    // Somebody who speaks while the bot does is not waiting for an answer.
    if (place === this.#round.lastVoiced) this.#endedSpeechMs = nowMs > this.#playsUntilMs ? nowMs : undefined;
    while (this.#marks[0] !== undefined && this.#marks[0].dueMs <= nowMs) this.#returnMark(this.#marks.shift()!.name);
  }

  hangUp(): void {
    if (this.#over) return;
    this.#over = true;
    this.#send({ event: 'stop', sequenceNumber: this.#next(), streamSid: this.#sid, stop: {} });
    this.#socket.close(1000);
  }

  #onMessage(data: Buffer, nowMs: number): void {
    const { event, media, mark } = fromGateway.parse(JSON.parse(data.toString('latin1')));
    if (media !== undefined) {
      if (this.#endedSpeechMs !== undefined && this.#notes.measuring) this.#notes.turnMs.push(nowMs - this.#endedSpeechMs);
      this.#endedSpeechMs = undefined;
      // Four characters of base64 are three bytes; what is padded is a thousandth.
      this.#playsUntilMs = Math.max(nowMs, this.#playsUntilMs) + (media.payload.length * 3) / 4 / BYTES_PER_MS;
    } else if (mark !== undefined) this.#marks.push({ dueMs: this.#playsUntilMs, name: mark.name });
    else if (event === 'clear') {
      this.#playsUntilMs = nowMs;
      for (const { name } of this.#marks.splice(0)) this.#returnMark(name);
    }
  }

  #returnMark(name: string): void {
    this.#send({ event: 'mark', sequenceNumber: this.#next(), streamSid: this.#sid, mark: { name } });
  }

  #next(): string {
    return String(this.#sequence++);
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}
