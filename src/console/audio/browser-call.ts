import { Microphone } from './microphone.ts';
import { Speaker } from './speaker.ts';

/** Rate in both directions. */
const RATE_HZ = 16_000;
/** A second of sound: a network that is behind by more gets nothing older. */
const MOST_UNSENT_BYTES = 2 * RATE_HZ;

export interface BrowserCallSettings {
  /** Asks the gateway for the call, once there is a microphone. @returns the address of its media socket */
  readonly begin: () => Promise<string>;
  readonly worklets: { readonly microphone: string; readonly speaker: string };
  /** The system's choice when absent, both. */
  readonly microphoneId?: string | undefined;
  readonly speakerId?: string | undefined;
  /** Root mean square of either direction, 0 to 1, many times a second. */
  readonly onLevels: (levels: { readonly caller?: number; readonly bot?: number }) => void;
  /** What the bot had still to say was dropped: it was interrupted. */
  readonly onClear?: () => void;
  /** Called once. The microphone is let go of. */
  readonly onOver: (end: CallEnd) => void;
}

/** `hung-up`: by this page. `ended`: by the bot, or an operator. `lost`: the connection broke. `unheard`: the microphone is gone. */
export type CallEnd = 'hung-up' | 'ended' | 'lost' | 'unheard';

/** One call from this page to a bot (docs/carriers/browser.md has the wire). */
export class BrowserCall {
  readonly #settings: BrowserCallSettings;
  #microphone: Microphone | undefined;
  #speaker: Speaker | undefined;
  #socket: WebSocket | undefined;
  #end: CallEnd | undefined;
  /** Whether the gateway has said that the call is over; what was sent before is still played. */
  #isStopped = false;
  readonly #leave = (): void => this.hangUp();

  private constructor(settings: BrowserCallSettings) {
    this.#settings = settings;
  }

  /**
   * To be called from a click: browsers let no page sound before one.
   * @throws MicrophoneError, what `begin` throws, or an Error where the media socket does not open; nothing is left open then
   */
  static async start(settings: BrowserCallSettings): Promise<BrowserCall> {
    const call = new BrowserCall(settings);
    try {
      await call.#open();
      return call;
    } catch (error) {
      call.#end ??= 'lost';
      await call.#release();
      throw error;
    }
  }

  press(digit: string): void {
    this.#tell({ type: 'digit', digit });
  }

  mute(isMuted: boolean): void {
    this.#microphone?.mute(isMuted);
  }

  /** Another microphone, while the call goes on. @throws MicrophoneError; the one that was used goes on then */
  async switchMicrophone(deviceId: string | undefined): Promise<void> {
    const next = await this.#openMicrophone(deviceId);
    if (this.#end !== undefined) return next[Symbol.asyncDispose]();
    next.mute(this.#microphone?.isMuted ?? false);
    await this.#microphone?.[Symbol.asyncDispose]();
    this.#microphone = next;
  }

  async switchSpeaker(deviceId: string): Promise<void> {
    await this.#speaker?.setDevice(deviceId);
  }

  hangUp(): void {
    this.#tell({ type: 'stop' });
    this.#over('hung-up');
  }

  async #open(): Promise<void> {
    const { begin, worklets, microphoneId, speakerId, onLevels } = this.#settings;
    this.#microphone = await this.#openMicrophone(microphoneId);
    this.#speaker = await Speaker.open({
      worklet: worklets.speaker,
      rateHz: RATE_HZ,
      channels: 1,
      arrival: 'ahead',
      deviceId: speakerId,
      onMark: (name) => this.#tell({ type: 'mark', name }),
      onLevels: ([bot = 0]) => onLevels({ bot }),
    });
    const address = await begin();
    if (this.#end !== undefined) throw new Error('the call was over before it began');
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => this.#received(data));
    await opened(socket);
    socket.addEventListener('close', () => this.#over(this.#isStopped ? 'ended' : 'lost'));
    this.#tell({ type: 'start', rateHz: RATE_HZ });
    addEventListener('pagehide', this.#leave);
  }

  #openMicrophone(deviceId: string | undefined): Promise<Microphone> {
    const { worklets, onLevels } = this.#settings;
    return Microphone.open({
      worklet: worklets.microphone,
      rateHz: RATE_HZ,
      deviceId,
      onFrame: (samples, caller) => {
        onLevels({ caller });
        const socket = this.#socket;
        if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < MOST_UNSENT_BYTES)
          socket.send(samples as Int16Array<ArrayBuffer>);
      },
      onLost: () => {
        this.#tell({ type: 'stop' });
        this.#over('unheard');
      },
    });
  }

  #received(data: ArrayBuffer | string): void {
    if (typeof data !== 'string') {
      this.#speaker?.play(new Int16Array(data));
      return;
    }
    const message = JSON.parse(data) as { readonly type: string; readonly name?: string };
    if (message.type === 'mark') this.#speaker?.mark(message.name ?? '');
    else if (message.type === 'clear') {
      this.#speaker?.clear();
      this.#settings.onClear?.();
    } else if (message.type === 'stop') this.#isStopped = true;
  }

  #tell(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #over(end: CallEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    void this.#release();
    this.#settings.onOver(end);
  }

  async #release(): Promise<void> {
    removeEventListener('pagehide', this.#leave);
    this.#socket?.close(1000);
    await Promise.allSettled([this.#microphone?.[Symbol.asyncDispose](), this.#speaker?.[Symbol.asyncDispose]()]);
  }
}

/** @throws Error where it does not open */
function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('close', () => reject(new Error('the media socket did not open')), { once: true });
  });
}
