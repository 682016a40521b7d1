import type { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { decodeAudio } from '../audio/codec.ts';
import type { CallRegistry } from '../call/admission/call-registry.ts';
import { OrderRefusedError } from '../call/control/supervision.ts';
import type { LiveSession } from '../call/live-session.ts';
import type { HeardSound } from '../call/recording/heard-sound.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import type { Logger } from '../observability/logger.ts';
import { type AudioMessage, audioRequest } from './api/calls/watch-messages.ts';
import { GivenSockets, type GivenUpgrade } from './given-sockets.ts';

/** A request to listen to a call. */
export interface ListenOrder {
  /** Identifies the listener, for `dismiss`. */
  readonly listenerId: string;
  readonly callId: string;
  /** For the record. */
  readonly by: string;
  /** Whether it may take the call over. */
  readonly mayControl: boolean;
}

/** How long a client listened, and how long it had the call. */
export interface Listened {
  readonly heardMs: number;
  readonly tookOverMs: number;
}

/** Listening to live calls. */
export interface LiveAudio {
  /** Serves a listener whose upgrade is still unanswered. Resolves when its socket is closed. @throws OrderRefusedError */
  listen(order: ListenOrder, upgrade: GivenUpgrade & { readonly socket: Socket }): Promise<Listened>;
  dismiss(listenerId: string): void;
}

/** Backlog, about a second of audio, at which a listener loses audio until it has caught up. */
const MOST_WAITING_BYTES = 64_000;
const MOST_LISTENERS = 100;
const PING_MS = 20_000;
/** Ping interval during a take-over: without an answer by the next, the bot gets the call back. */
const HELD_PING_MS = 3_000;
const MOST_VOICE_BYTES = 64_000;
/** An operator's voice is accepted in real time, slightly faster for clock drift, with a lead of one longest message. */
const VOICE_SAMPLES_PER_MS = 16;
const VOICE_PACE = 1.1;
const MOST_AHEAD_SAMPLES = MOST_VOICE_BYTES / 2;
/** Most requests between two pings. */
const MOST_REQUESTS = 100;
const DISMISSED = 4401;

export interface LiveAudioParts {
  readonly registry: Pick<CallRegistry, 'calls' | 'order'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

/** Audio of this process's calls, for listeners and operators who take a call over. */
export class LocalLiveAudio implements LiveAudio {
  readonly #parts: LiveAudioParts;
  readonly #sockets = new GivenSockets();
  readonly #listeners = new Map<string, Listener>();

  constructor(parts: LiveAudioParts) {
    this.#parts = parts;
  }

  async listen(order: ListenOrder, { socket, ...upgrade }: GivenUpgrade & { readonly socket: Socket }): Promise<Listened> {
    const session = this.#parts.registry.calls.find(({ id }) => id === order.callId);
    const { sound } = session ?? {};
    if (session === undefined || sound === undefined || this.#listeners.size >= MOST_LISTENERS) {
      socket.destroy();
      throw new OrderRefusedError('The call has no audio, or too many listen here.');
    }
    const startedMs = this.#parts.clock.nowMs();
    return new Promise((resolve) => {
      const refused = (): void => resolve({ heardMs: 0, tookOverMs: 0 });
      const opened = (client: WebSocket): void => {
        const listener = new Listener(client, session, sound, order, this.#parts);
        this.#listeners.set(order.listenerId, listener);
        client.once('close', () => {
          this.#listeners.delete(order.listenerId);
          const heardMs = this.#parts.clock.nowMs() - startedMs;
          void listener
            .gone()
            .then((tookOverMs) => resolve({ heardMs: Math.round(heardMs), tookOverMs: Math.round(tookOverMs) }));
        });
      };
      this.#sockets.upgrade(socket, upgrade, opened, refused);
    });
  }

  dismiss(listenerId: string): void {
    this.#listeners.get(listenerId)?.dismiss();
  }

  close(): void {
    this.#sockets.close('the process stops', this.#parts.clock);
  }
}

/** A client that listens to one call. */
class Listener {
  readonly #socket: WebSocket;
  readonly #session: LiveSession;
  readonly #order: ListenOrder;
  readonly #parts: LiveAudioParts;
  readonly #stop: (() => void) | undefined;
  /** Whether this client has the call; since when, and how long before. */
  #isMine = false;
  #takenAtMs = 0;
  #tookOverMs = 0;
  #toldBy: string | undefined;
  #answered = true;
  #requests = 0;
  /** Samples of voice accepted now, as of a moment. */
  #voiceRoom = MOST_AHEAD_SAMPLES;
  #voiceAtMs = 0;
  #wasTooFast = false;
  #timer: Timer | undefined;
  #acting: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, session: LiveSession, sound: HeardSound, order: ListenOrder, parts: LiveAudioParts) {
    this.#socket = socket;
    this.#session = session;
    this.#order = order;
    this.#parts = parts;
    socket.on('error', () => undefined);
    socket.on('pong', () => (this.#answered = true));
    socket.on('message', (data, isBinary) => {
      try {
        this.#onMessage(data as Buffer, isBinary);
      } catch (error) {
        // A listener's fault ends neither the call nor the process.
        parts.logger.error({ callId: order.callId, error }, 'serving a listener failed: internal error');
        socket.close(1011, 'internal error');
      }
    });
    this.#tell({ type: 'format', rateHz: sound.rateHz });
    this.#tellStanding();
    this.#stop = sound.listen((stereo) => this.#hear(stereo));
    if (this.#stop === undefined) socket.close(1013, 'too many listen to this call');
    void session.ended.then(() => {
      this.#tell({ type: 'over' });
      socket.close(1000, 'the call is over');
    });
    this.#ping();
  }

  dismiss(): void {
    this.#socket.close(DISMISSED, 'not allowed any more');
    // A client that ignores the close keeps only its socket for a while.
    if (this.#isMine) this.#act(() => this.#giveBack());
  }

  /** Its socket is closed: the bot gets the call back. @returns how long it had the call, in ms */
  async gone(): Promise<number> {
    this.#stop?.();
    this.#timer?.cancel();
    await this.#acting;
    if (this.#isMine) await this.#giveBack().catch(() => undefined);
    return this.#tookOverMs;
  }

  #tell(message: AudioMessage): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #hear(stereo: Uint8Array): void {
    if (this.#session.takeOver?.by !== this.#toldBy) this.#tellStanding();
    if (this.#socket.bufferedAmount <= MOST_WAITING_BYTES && this.#socket.readyState === this.#socket.OPEN)
      this.#socket.send(stereo, { binary: true });
  }

  #tellStanding(): void {
    const by = this.#session.takeOver?.by;
    if (by === undefined && this.#isMine) this.#lost();
    this.#toldBy = by;
    this.#tell({ type: 'standing', takenOver: by === undefined ? null : this.#isMine ? 'you' : 'other', by: by ?? null });
  }

  #lost(): void {
    this.#isMine = false;
    this.#tookOverMs += this.#parts.clock.nowMs() - this.#takenAtMs;
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (isBinary) {
      if (data.length > MOST_VOICE_BYTES) this.#socket.close(1009, 'too much sound at once');
      else if (this.#isMine) this.#speak(decodeAudio('pcm16', data));
      return;
    }
    this.#requests += 1;
    if (this.#requests > MOST_REQUESTS) return this.#socket.close(1008, 'too many requests');
    const { data: request } = audioRequest.safeParse(parseJson(data.toString('utf8')));
    if (request === undefined) this.#tell({ type: 'refused', why: 'This is no request: take-over or give-back.' });
    else if (!this.#order.mayControl) this.#tell({ type: 'refused', why: 'This needs the scope calls:control.' });
    else this.#act(request.type === 'take-over' ? () => this.#take() : () => this.#giveBack());
  }

  /** Voice faster than real time is dropped, and reported once. */
  #speak(pcm: Int16Array): void {
    const nowMs = this.#parts.clock.nowMs();
    const gained = (nowMs - this.#voiceAtMs) * VOICE_SAMPLES_PER_MS * VOICE_PACE;
    this.#voiceAtMs = nowMs;
    this.#voiceRoom = Math.min(MOST_AHEAD_SAMPLES, this.#voiceRoom + gained);
    if (pcm.length <= this.#voiceRoom) {
      this.#voiceRoom -= pcm.length;
      this.#session.takeOver?.hear(pcm);
    } else if (!this.#wasTooFast) {
      this.#wasTooFast = true;
      this.#tell({ type: 'refused', why: 'Your voice comes faster than real time: what is too much is dropped.' });
    }
  }

  /** Runs requests one after the other. */
  #act(act: () => Promise<void>): void {
    this.#acting = this.#acting
      .then(act)
      .catch((error: unknown) => this.#tell({ type: 'refused', why: errorText(error) }))
      .finally(() => this.#tellStanding());
  }

  async #take(): Promise<void> {
    if (this.#isMine) return;
    const { registry, clock } = this.#parts;
    await registry.order(this.#session, { type: 'take-over', on: true }, this.#order.by);
    this.#isMine = true;
    this.#takenAtMs = clock.nowMs();
    this.#timer?.cancel();
    this.#ping();
  }

  async #giveBack(): Promise<void> {
    if (!this.#isMine) throw new OrderRefusedError('You do not have the call.');
    // The call may have ended the take-over itself.
    if (this.#session.takeOver?.by !== undefined)
      await this.#parts.registry.order(this.#session, { type: 'take-over', on: false }, this.#order.by);
    if (this.#isMine) this.#lost();
  }

  #ping(): void {
    this.#timer = this.#parts.clock.after(this.#isMine ? HELD_PING_MS : PING_MS, () => {
      this.#requests = 0;
      if (!this.#answered) return this.#socket.terminate();
      this.#answered = false;
      this.#socket.ping();
      this.#ping();
    });
  }
}
