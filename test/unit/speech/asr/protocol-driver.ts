import { decodeAudio } from '../../../../src/audio/codec.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import type { At, Effect } from '../../../../src/speech/asr/realtime-events.ts';
import { RealtimeProtocol } from '../../../../src/speech/asr/realtime-protocol.ts';
import type { RealtimeProtocolOptions } from '../../../../src/speech/asr/recognition-dialect.ts';
import type { RecognitionEvent } from '../../../../src/speech/port.ts';

/** One socket as the platform sees it. */
export interface DrivenSocket {
  readonly init: Record<string, unknown>;
  /** Audio joined, commands apart with the number of samples before them. */
  readonly samples: number[];
  readonly commands: { readonly text: string; readonly afterSamples: number }[];
  readonly batches: { readonly atMs: number; readonly samples: number }[];
}

/** Runs the protocol by hand: a manual clock, sockets that are plain records, effects done in order. */
export class ProtocolDriver {
  readonly clock = new ManualClock();
  readonly protocol: RealtimeProtocol;
  readonly events: RecognitionEvent[] = [];
  readonly sockets: DrivenSocket[] = [];
  /** One entry for each `connect`, saying whether a fresh token was asked for. */
  readonly connects: boolean[] = [];
  readonly unknown: string[] = [];
  /** What was sent on all sockets. */
  readonly sent: (string | Uint8Array)[] = [];
  disconnects = 0;
  bufferedBytes = 0;
  /** When the server last gave a sign of life, where that is not now. */
  heardMs: number | undefined;
  pings = 0;
  #isOpen = false;

  constructor(options: Partial<RealtimeProtocolOptions> = {}) {
    this.protocol = new RealtimeProtocol(
      { language: 'en', sampleRateHz: 8_000, random: () => 0, ...options },
      this.clock.nowMs(),
    );
    this.run(this.protocol.start());
  }

  at(): At {
    const { heardMs = this.clock.nowMs() } = this;
    return { nowMs: this.clock.nowMs(), bufferedBytes: this.bufferedBytes, heardMs };
  }

  get socket(): DrivenSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened');
    return socket;
  }

  of<Type extends RecognitionEvent['type']>(type: Type): Extract<RecognitionEvent, { type: Type }>[] {
    return this.events.filter((event): event is Extract<RecognitionEvent, { type: Type }> => event.type === type);
  }

  run(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === 'emit') this.events.push(effect.event);
      if (effect.type === 'connect') this.connects.push(effect.freshToken);
      if (effect.type === 'ping') this.pings += 1;
      if (effect.type === 'unknown-event') this.unknown.push(effect.name);
      if (effect.type === 'disconnect') {
        this.disconnects += 1;
        this.#isOpen = false;
      }
      if (effect.type === 'send') this.#sent(effect.data);
    }
  }

  open(token = 'token'): void {
    this.sockets.push({ init: {}, samples: [], commands: [], batches: [] });
    this.#isOpen = true;
    this.run(this.protocol.opened(this.at(), token));
  }

  /** Opens a socket and is ready on it. */
  ready(): this {
    this.open();
    this.hear({ type: 'ready' });
    return this;
  }

  /** The socket closes; another opens and is ready, and so much time passes. */
  reopened(code: number, forMs: number): void {
    this.close(code);
    this.ready();
    this.advance(forMs);
  }

  hear(event: unknown): void {
    this.run(this.protocol.text(this.at(), JSON.stringify(event)));
  }

  close(code: number, reason = ''): void {
    this.#isOpen = false;
    this.run(this.protocol.closed(this.at(), code, reason));
  }

  say(pcm: Int16Array): void {
    this.run(this.protocol.send(this.at(), pcm));
  }

  /** Says this in frames of 20 ms, in real time. */
  speak(pcm: Int16Array): void {
    for (let from = 0; from < pcm.length; from += 160) {
      this.say(pcm.subarray(from, from + 160));
      this.advance(20);
    }
  }

  commit(): void {
    this.run(this.protocol.commit(this.at()));
  }

  end(): void {
    this.run(this.protocol.end(this.at()));
  }

  advance(ms: number): void {
    const untilMs = this.clock.nowMs() + ms;
    for (;;) {
      const { dueMs } = this.protocol;
      if (dueMs === undefined || dueMs > untilMs) break;
      this.clock.advance(Math.max(0, dueMs - this.clock.nowMs()));
      this.run(this.protocol.tick(this.at()));
    }
    this.clock.advance(untilMs - this.clock.nowMs());
  }

  #sent(data: string | Uint8Array): void {
    if (!this.#isOpen) throw new Error('something was sent on no socket');
    this.sent.push(data);
    const { socket } = this;
    if (typeof data !== 'string') {
      const samples = decodeAudio('pcm16', data);
      socket.samples.push(...samples);
      socket.batches.push({ atMs: this.clock.nowMs(), samples: samples.length });
    } else if (data.startsWith('{')) Object.assign(socket.init, JSON.parse(data));
    else socket.commands.push({ text: data, afterSamples: socket.samples.length });
  }
}

/** Loud enough to be taken for a voice; each sample tells its place. */
export function voice(ms: number, from = 0): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, index) => (index % 2 === 0 ? 1 : -1) * (1_000 + ((from * 8 + index) % 20_000)));
}

export function silence(ms: number): Int16Array {
  return new Int16Array(ms * 8);
}
