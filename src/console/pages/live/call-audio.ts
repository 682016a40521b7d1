import { socketUrl } from '../../api.ts';
import { Microphone, MicrophoneError, type MicrophoneProblem } from '../../audio/microphone.ts';
import { Speaker } from '../../audio/speaker.ts';
import { WORKLETS } from '../../audio/worklets.ts';
import type { AudioMessage, AudioRequest } from '../../../http/api/calls/watch-messages.ts';

export type Side = 'both' | 'caller' | 'bot';
export type Heard = 'off' | 'connecting' | 'on' | 'lost' | 'no-sound' | 'over';

/** What a page shows of a call's sound. */
export interface CallAudioStanding {
  readonly heard: Heard;
  readonly side: Side;
  /** Who has taken the call over; `asked` until the gateway has answered. */
  readonly takenOver: 'you' | 'other' | 'asked' | null;
  /** The operator, as named in the audit log. */
  readonly by: string | null;
  /** Why the call was not taken over, as the gateway says it. */
  readonly refused: string | undefined;
  readonly microphone: MicrophoneProblem | 'lost' | undefined;
}

/** Root mean square, 0 to 1. */
export interface Levels {
  readonly caller: number;
  readonly bot: number;
  readonly you: number;
}

/** Rate of the operator's voice, as the gateway takes it. */
const VOICE_RATE_HZ = 16_000;
/** A second of voice: a network that is behind by more gets nothing older. */
const MOST_UNSENT_BYTES = 2 * VOICE_RATE_HZ;
const GAINS: Readonly<Record<Side, readonly number[]>> = { both: [1, 1], caller: [1, 0], bot: [0, 1] };
const OFF: CallAudioStanding = {
  heard: 'off',
  side: 'both',
  takenOver: null,
  by: null,
  refused: undefined,
  microphone: undefined,
};

/** The sound of one live call in this page, and the operator's voice in it. To be started from a click: browsers let no page sound before one. */
export class CallAudio implements AsyncDisposable {
  readonly #callId: string;
  readonly #readers = new Set<() => void>();
  #standing = OFF;
  #socket: WebSocket | undefined;
  #speaker: Speaker | undefined;
  #microphone: Microphone | undefined;
  readonly #meters = new Set<(levels: Levels) => void>();
  #levels: Levels = { caller: 0, bot: 0, you: 0 };

  constructor(callId: string) {
    this.#callId = callId;
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#readers.add(changed);
    return () => void this.#readers.delete(changed);
  };

  /** Tells levels many times a second, apart from what React draws. @returns ends it */
  watchLevels(meter: (levels: Levels) => void): () => void {
    this.#meters.add(meter);
    return () => void this.#meters.delete(meter);
  }

  standing = (): CallAudioStanding => this.#standing;

  listen(): void {
    if (this.#socket !== undefined) return;
    const socket = new WebSocket(socketUrl(`/live-calls/${encodeURIComponent(this.#callId)}/audio`));
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#set({ heard: 'connecting', refused: undefined, microphone: undefined });
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (socket !== this.#socket) return;
      if (typeof data === 'string') void this.#told(JSON.parse(data) as AudioMessage);
      else this.#speaker?.play(new Int16Array(data));
    });
    socket.addEventListener('close', () => {
      if (socket === this.#socket) void this.#stop(this.#standing.heard === 'over' ? 'over' : 'lost');
    });
  }

  async stop(): Promise<void> {
    await this.#stop('off');
  }

  choose(side: Side): void {
    this.#set({ side });
    this.#applyGains();
  }

  /** Asks for the microphone first, so that the bot is not muted for an operator who cannot speak. */
  async takeOver(): Promise<void> {
    this.#set({ takenOver: 'asked', refused: undefined, microphone: undefined });
    this.listen();
    const socket = this.#socket;
    try {
      const microphone = await Microphone.open({
        worklet: WORKLETS.microphone,
        rateHz: VOICE_RATE_HZ,
        onFrame: (samples, you) => this.#voice(samples, you),
        onLost: () => {
          this.giveBack();
          this.#set({ microphone: 'lost' });
        },
      });
      if (socket === undefined || socket !== this.#socket) return await microphone[Symbol.asyncDispose]();
      this.#microphone = microphone;
    } catch (error) {
      if (!(error instanceof MicrophoneError)) throw error;
      return this.#set({ takenOver: null, microphone: error.problem });
    }
    if (socket.readyState === WebSocket.OPEN) this.#ask({ type: 'take-over' });
    else socket.addEventListener('open', () => this.#ask({ type: 'take-over' }), { once: true });
  }

  giveBack(): void {
    this.#ask({ type: 'give-back' });
    this.#silence();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop('off');
  }

  async #told(message: AudioMessage): Promise<void> {
    switch (message.type) {
      case 'format':
        return this.#play(message.rateHz);
      case 'standing': {
        const { takenOver, by } = message;
        if (takenOver !== 'you' && this.#standing.takenOver === 'you') this.#silence();
        // The first standing comes before the answer to what was asked.
        if (takenOver !== null || this.#standing.takenOver !== 'asked') this.#set({ takenOver, by });
        return this.#applyGains();
      }
      case 'refused':
        this.#silence();
        return this.#set({ takenOver: null, refused: message.why });
      case 'over':
        return this.#set({ heard: 'over' });
    }
  }

  async #play(rateHz: number): Promise<void> {
    const socket = this.#socket;
    await this.#speaker?.[Symbol.asyncDispose]();
    this.#speaker = undefined;
    try {
      const speaker = await Speaker.open({
        worklet: WORKLETS.speaker,
        rateHz,
        channels: 2,
        arrival: 'live',
        onLevels: ([caller = 0, bot = 0]) => this.#level({ caller, bot }),
      });
      if (socket !== this.#socket) return await speaker[Symbol.asyncDispose]();
      this.#speaker = speaker;
    } catch {
      return this.#set({ heard: 'no-sound' });
    }
    this.#applyGains();
    this.#set({ heard: 'on' });
  }

  #applyGains(): void {
    // An operator cannot speak while hearing their own delayed voice.
    this.#speaker?.setGains(GAINS[this.#standing.takenOver === 'you' ? 'caller' : this.#standing.side]);
  }

  #voice(samples: Int16Array, you: number): void {
    this.#level({ you });
    const socket = this.#socket;
    if (this.#standing.takenOver !== 'you' || socket?.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount < MOST_UNSENT_BYTES) socket.send(samples as Int16Array<ArrayBuffer>);
  }

  #level(levels: Partial<Levels>): void {
    this.#levels = { ...this.#levels, ...levels };
    for (const meter of this.#meters) meter(this.#levels);
  }

  #ask(request: AudioRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request));
  }

  #silence(): void {
    void this.#microphone?.[Symbol.asyncDispose]();
    this.#microphone = undefined;
    this.#level({ you: 0 });
  }

  async #stop(heard: Heard): Promise<void> {
    const [socket, speaker] = [this.#socket, this.#speaker];
    this.#socket = undefined;
    this.#speaker = undefined;
    this.#silence();
    this.#level({ caller: 0, bot: 0 });
    this.#set({ heard, takenOver: null, by: null });
    socket?.close(1000);
    await speaker?.[Symbol.asyncDispose]();
  }

  #set(change: Partial<CallAudioStanding>): void {
    this.#standing = { ...this.#standing, ...change };
    for (const changed of this.#readers) changed();
  }
}
