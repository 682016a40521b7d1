import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { EvenLoudness } from '../../src/call/outbound/loudness.ts';
import type { CallServices } from '../../src/call/services.ts';
import { WebSocketConnection } from '../../src/carriers/media-connection.ts';
import { acceptMediaSocket } from '../../src/carriers/media-socket.ts';
import { JsonCodec } from '../../src/carriers/json-codec.ts';
import { twilioCapabilities, twilioDialect } from '../../src/carriers/twilio/dialect.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { createEvents } from '../../src/observability/events.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { RealtimeProtocol } from '../../src/speech/asr/realtime-protocol.ts';
import type { Synthesizer } from '../../src/speech/port.ts';
import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../src/speech/platform-capabilities.ts';
import { CallBench } from '../../test/unit/call/call-bench.ts';
import { PhraseCache } from '../../src/speech/tts/phrase-cache.ts';

const detectorOf = await loadVoiceActivity();
const events = createEvents(silentLogger, createMetrics(), systemClock);

/** A carrier's socket that takes what it is sent and returns no marks. */
class Carrier extends EventEmitter {
  readonly OPEN = 1;
  readonly CLOSED = 3;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  messages = 0;
  send(): void {
    this.messages += 1;
  }
  ping(): void {}
  close(): void {}
  terminate(): void {}
}

/** One call on which the bot talks all the time, with everything between the carrier's socket and the platform's. */
export interface WholeCall {
  /** Time goes on by this much. */
  wait(ms: number): void;
  /** A message of the carrier. */
  frame(text: Buffer): void;
  tick(): void;
  /** Gives the bot more to say; resolves when it is where it has to be. */
  chunk(audio: Uint8Array): Promise<void>;
  readonly sentMessages: number;
}

export async function wholeCall(): Promise<WholeCall> {
  let atMs = 10_000;
  // What the system's clock costs is a part of it.
  const clock: Clock = {
    nowMs() {
      performance.now();
      return atMs;
    },
    wallMs: () => Date.now(),
    after: () => ({ cancel: () => undefined }),
  };
  let give: (audio: Uint8Array) => void = () => undefined;
  const waiting: Uint8Array[] = [];
  /** As a socket gives it: what has come, then a wait for more; a sentence is twenty seconds. */
  const source: Synthesizer = {
    capabilities: PLATFORM_SYNTHESIS,
    async *speak() {
      for (let chunks = 0; chunks < 100; chunks += 1) {
        while (waiting.length === 0)
          await new Promise<void>((resolve) => {
            give = (audio) => {
              waiting.push(audio);
              resolve();
            };
          });
        yield waiting.shift()!;
      }
    },
  };
  const protocol = new RealtimeProtocol({ language: 'en', sampleRateHz: 8_000, random: () => 0.5 }, atMs);
  const at = () => ({ nowMs: clock.nowMs(), bufferedBytes: 0 });
  protocol.start();
  protocol.opened(at(), 'token');
  protocol.text(at(), '{"type":"ready"}');
  const ticks: ((nowMs: number) => void)[] = [];
  const services: Partial<CallServices> = {
    clock,
    logger: silentLogger,
    events,
    ticker: {
      add(listener) {
        ticks.push(listener);
        return () => undefined;
      },
    },
    recogniser: {
      capabilities: PLATFORM_RECOGNITION,
      open: () => ({
        send: (pcm) => void protocol.send(at(), pcm),
        commit: () => undefined,
        end: async () => undefined,
        abort: () => undefined,
      }),
    },
    spareRecognition: () => undefined,
    synthesizer: new EvenLoudness(new PhraseCache(source, { clock })),
    createDetector: detectorOf,
    recordingFiles: { create: () => ({ failure: undefined, write: () => undefined, finish: async () => true }) },
    journal: () => undefined,
    news: () => undefined,
  };
  const { session } = new CallBench(
    async function* () {
      for (let sentence = 0; sentence < 100_000; sentence += 1)
        yield { type: 'say', text: `This is sentence ${sentence}.`, interruptible: 'never' };
    },
    { recording: 'always' },
    {},
    () => services,
  );
  const carrier = new Carrier();
  acceptMediaSocket({
    connection: new WebSocketConnection(carrier as unknown as WebSocket, undefined),
    carrier: 'twilio',
    capabilities: twilioCapabilities,
    codec: new JsonCodec(twilioDialect),
    clock,
    events,
    callId: 'call',
    attachmentId: 'att',
    carrierCallId: 'CA0',
    startTimeoutMs: 1_000,
    onStarted: (attachment) => session.attach(attachment),
    onAbandoned: () => undefined,
    onFault(error) {
      throw error;
    },
  });
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 };
  const start = { streamSid: 'MZ0', callSid: 'CA0', mediaFormat };
  carrier.emit('message', Buffer.from(JSON.stringify({ event: 'start', start, streamSid: 'MZ0' })), false);
  await settled();
  return {
    wait(ms) {
      atMs += ms;
    },
    frame: (text) => void carrier.emit('message', text, false),
    tick() {
      for (const listener of ticks) listener(atMs);
    },
    async chunk(audio) {
      give(audio);
      await settled();
    },
    get sentMessages() {
      return carrier.messages;
    },
  };
}

function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
