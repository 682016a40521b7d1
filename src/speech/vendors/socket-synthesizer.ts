import { type Clock, stayAwake } from '../../kernel/clock.ts';
import type { CircuitBreaker } from '../client/circuit-breaker.ts';
import type { Tokens } from '../client/credentials.ts';
import type { Slots } from '../client/slots.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../port.ts';
import { SynthesisAttempts } from '../tts/synthesis-attempts.ts';
import { IdleSockets, type SynthesisSocket } from '../tts/synthesis-socket.ts';

export interface SocketSynthesizerOptions {
  readonly baseUrl: string;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly slots: Slots;
  readonly breaker: CircuitBreaker;
  readonly capabilities: SynthesizerCapabilities;
  readonly keyAdvice: string;
  readonly random?: () => number;
}

/** Idle sockets of one lane; each counts as a connection of the account. */
const MOST_IDLE = 2;

/** Synthesis over sockets that speak one text after another. Between texts they are kept in lanes: all of a lane speak alike. */
export abstract class SocketSynthesizer<Options extends SocketSynthesizerOptions> implements Synthesizer, AsyncDisposable {
  protected readonly options: Options;
  protected readonly attempts: SynthesisAttempts;
  protected readonly idle: IdleSockets<string>;

  constructor(options: Options) {
    const { clock, slots, breaker, random } = options;
    this.options = options;
    this.attempts = new SynthesisAttempts({ clock, slots, breaker, random });
    this.idle = new IdleSockets(clock);
  }

  get capabilities(): SynthesizerCapabilities {
    return this.options.capabilities;
  }

  abstract speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;

  async [Symbol.asyncDispose](): Promise<void> {
    this.attempts.close();
    this.idle.close();
  }

  /** Opens a socket ahead of the first sentence, if a slot is free. Never rejects. */
  protected async warmUp(lane: string, open: (signal: AbortSignal) => Promise<SynthesisSocket>): Promise<void> {
    const { closing } = this.attempts;
    if (this.options.slots.free === 0 || closing.aborted || this.idle.has(lane)) return;
    try {
      this.keep(lane, await stayAwake(open(closing)));
    } catch {
      // The first sentence tries again and reports the error.
    }
  }

  protected keep(lane: string, socket: SynthesisSocket): void {
    if (this.attempts.closing.aborted) socket.close();
    else this.idle.keep(lane, socket, Math.min(MOST_IDLE, Math.max(1, this.options.slots.free)));
  }
}
