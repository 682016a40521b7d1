import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { errorText } from '../../../kernel/errors.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { LatexReader } from '../../engines/latex/latex-reader.ts';
import type { SynthesisEngine } from '../../engines/port.ts';
import { refusalOf } from '../http-app.ts';
import { closeReason } from '../close-reason.ts';
import type { FaultDice } from '../faults/fault-dice.ts';
import type { PlatformLimits } from '../limits.ts';
import { detailText, Refusal } from '../refusal.ts';
import type { Slots } from '../slots.ts';
import { closeSocket } from '../socket-routes.ts';
import { Chunker } from './chunker.ts';
import { chunkEncoder } from './encode-speech.ts';
import { speak } from './speak.ts';
import {
  checkSpeechSettings,
  readSpeechFields,
  type SpeechFields,
  type SpeechRequest,
  speechRequestOf,
  type SpeechSurface,
} from './speech-request.ts';
import { drained } from './unread.ts';

export interface SpeechSocketOptions {
  readonly socket: WebSocket;
  readonly engine: SynthesisEngine;
  readonly latex: LatexReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PlatformLimits;
  readonly faults: FaultDice;
  readonly compat: boolean;
  readonly slots: Slots;
  readonly keyId: string;
  /** Fields of the address's query. */
  readonly initial: unknown;
}

/** Audio of a chunk: the first one short, so that playing can start. */
const firstChunkMs = 60;
const chunkMs = 160;
/** Syntheses that may wait for the one that is running. */
const maxWaiting = 16;

const typeSchema = z.object({ type: z.unknown().optional() });

/**
 * Speaks the synthesis protocol on an admitted socket (TTS doc, WebSocket): settings may come in the query, in `config`
 * messages and with the text itself, later ones over earlier ones; any message with text starts a synthesis. One after
 * another; a failure of any kind is told and closes the socket.
 */
export function serveSpeechSocket(options: SpeechSocketOptions): void {
  const { socket, clock, limits } = options;
  const gone = new AbortController();
  let settings: SpeechFields = {};
  let waiting = 0;
  let turn: Promise<void> = Promise.resolve();
  let idle: Timer | undefined;

  const fail = (requestId: string, error: unknown): void => {
    if (gone.signal.aborted) return;
    const refusal = refusalOf(error);
    const text = detailText(refusal.detail);
    if (refusal.status >= 500) options.logger.warn({ requestId, error: refusal.cause ?? refusal }, 'synthesis failed');
    socket.send(JSON.stringify({ type: 'error', request_id: requestId, error: text }));
    gone.abort(refusal);
    idle?.cancel();
    void closeSocket(socket, refusal.status >= 500 ? 1011 : 1008, closeReason(text), clock);
  };
  const watchIdle = (): void => {
    idle?.cancel();
    idle = clock.after(limits.inactivityMs, () => {
      if (waiting > 0) watchIdle();
      else fail(randomUUID(), new Refusal(408, `Nothing was asked for within ${limits.inactivityMs / 1000} s`));
    });
  };
  const surface: SpeechSurface = { kind: 'stream', compat: options.compat, voices: options.engine.voices };
  const enqueue = (fields: SpeechFields): void => {
    const requestId = randomUUID();
    const request = speechRequestOf(fields, surface);
    if (waiting >= maxWaiting) throw new Refusal(429, `More than ${maxWaiting} syntheses are waiting on this socket`);
    waiting += 1;
    turn = turn
      .then(() => synthesise(request, requestId, options, gone.signal))
      .catch((error: unknown) => fail(requestId, error))
      .finally(() => {
        waiting -= 1;
      });
  };
  /** Stores settings; text that comes along is a request as well. */
  const configure = (given: SpeechFields): void => {
    const { input: _input, target_text: _text, ...kept } = withDefaults(given, settings);
    checkSpeechSettings(kept, surface);
    if (hasText(given)) enqueue(withDefaults(given, settings));
    settings = kept;
  };
  const receive = (text: string): void => {
    const raw = parse(text);
    const given = readSpeechFields(raw);
    const { type } = typeSchema.parse(raw);
    if (type === 'config') configure(given);
    else if (type === undefined || hasText(given)) enqueue(withDefaults(given, settings));
    else throw unknownType(type);
  };
  const guarded = (task: () => void): void => {
    try {
      task();
    } catch (error) {
      fail(randomUUID(), error);
    }
  };

  socket.on('message', (data, isBinary) => {
    if (gone.signal.aborted) return;
    watchIdle();
    guarded(() => {
      if (isBinary) throw new Refusal(400, 'Messages must be JSON text');
      receive(Buffer.isBuffer(data) ? data.toString('utf8') : errorText(data));
    });
  });
  socket.on('close', () => {
    idle?.cancel();
    gone.abort(new Refusal(499, 'The client went away'));
  });
  watchIdle();
  guarded(() => {
    configure(readSpeechFields(options.initial));
  });
}

function hasText({ input, target_text }: SpeechFields): boolean {
  return input !== undefined || target_text !== undefined;
}

function unknownType(type: unknown): Refusal {
  const named = typeof type === 'string' || typeof type === 'number' ? ` ${JSON.stringify(type).slice(0, 40)}` : '';
  return new Refusal(400, `unknown message type${named}: a message is of type config, or has a text in input`);
}

/** Fields of the message over those set before; an alias counts as its field. */
function withDefaults(given: SpeechFields, settings: SpeechFields): SpeechFields {
  const { voice, speaker_id, response_format, encoding, ...rest } = settings;
  return {
    ...rest,
    ...(given.voice === undefined && given.speaker_id === undefined ? { voice, speaker_id } : {}),
    ...(given.response_format === undefined && given.encoding === undefined ? { response_format, encoding } : {}),
    ...given,
  };
}

async function synthesise(
  request: SpeechRequest,
  requestId: string,
  options: SpeechSocketOptions,
  signal: AbortSignal,
): Promise<void> {
  const { socket, slots, limits, engine, latex, clock } = options;
  signal.throwIfAborted();
  if (options.faults.failsTurn()) throw new Refusal(500, 'Injected fault: this synthesis fails');
  const free = slots.take(options.keyId);
  if (free === undefined) throw new Refusal(429, `Rate limit: ${limits.concurrentPerKey} requests at once are allowed`);
  try {
    const { format } = request;
    const samplesIn = (durationMs: number): number => (format.rateHz * durationMs) / 1000;
    const chunker = new Chunker(samplesIn(firstChunkMs), samplesIn(chunkMs));
    const encode = await chunkEncoder(format, request.quality);
    const about = { format: format.name, sample_rate: format.rateHz };
    let held: Int16Array | undefined;
    let index = 0;
    let samples = 0;
    const send = async (pcm: Int16Array, isFinal: boolean): Promise<void> => {
      const bytes = await encode(pcm, isFinal);
      samples += pcm.length;
      signal.throwIfAborted();
      if (bytes.length === 0) return;
      socket.send(JSON.stringify({ type: 'chunk', request_id: requestId, chunk_index: index, is_final: isFinal, ...about }));
      socket.send(bytes);
      index += 1;
      await drained(socket, clock, limits.chunkMs, signal);
    };
    // The last chunk is marked, so each waits until it is known whether another follows.
    const pass = async (pcm: Int16Array): Promise<void> => {
      if (held !== undefined) await send(held, false);
      held = pcm;
    };
    for await (const pcm of speak(request, { engine, latex, clock, signal, chunkMs: limits.chunkMs })) {
      for (const chunk of chunker.push(pcm)) await pass(chunk);
    }
    const rest = chunker.flush();
    if (rest !== undefined) await pass(rest);
    if (held !== undefined) await send(held, true);
    socket.send(
      JSON.stringify({
        type: 'completion',
        request_id: requestId,
        status: 'complete',
        total_chunks: index,
        total_duration_seconds: Math.round((samples / format.rateHz) * 1e6) / 1e6,
        ...about,
      }),
    );
  } finally {
    free();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'Messages must be JSON');
  }
}
