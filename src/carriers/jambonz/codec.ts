import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';
import { maxMessageBytes, type MediaCodec, type MessageSink, type WireEvent } from '../media-codec.ts';

/**
 * The protocol of FreeSWITCH's mod_audio_fork, spoken by jambonz' `listen` verb (jambonz/freeswitch-modules mod_audio_fork, jambonz/schema
 * docs/verbs/listen.md): JSON metadata in the first text message, then signed 16-bit little-endian samples in binary messages of any length; the same
 * in both directions with `bidirectionalAudio.streaming`. A call that is listened to is interleaved stereo: the person on the channel left, the other
 * one right.
 */

/**
 * The module moves audio to playout in steps of 640 samples at the telephone's rate, 80 ms at most: a shorter end of a sentence would wait for the
 * next.
 */
export const FRAME_MS = 80;
/** Most outstanding marks; the module silently drops more. */
const MOST_MARKS = 30;
/** Sample value that the module reserves for marks: in our audio it would fire one early. */
const MARK_SAMPLE = -1;
const RATES_HZ = [8_000, 16_000, 24_000, 32_000, 48_000];

const message = z.looseObject({ type: z.string().optional(), event: z.string().optional() });
const metadata = z.looseObject({
  sampleRate: z.coerce.number().optional(),
  mixType: z.string().optional(),
  callSid: z.string().min(1).max(256).optional(),
});
const mark = z.object({ data: z.object({ name: z.string().max(512), event: z.string() }) });
const dtmf = z.object({ dtmf: z.string().regex(/^[0-9*#A-D]$/u) });

export interface AudioForkOptions {
  /** Rate in both directions where the metadata do not name it; the metadata may then be any text, or absent. */
  readonly rateHz?: number | undefined;
  /** Ends by closing the socket; an end message is not understood. */
  readonly endsBySocket?: true;
  /** Reads further facts from the metadata. A listened call is assumed to be stereo. */
  readonly started?: (metadata: Readonly<Record<string, unknown>>, started: Started) => Started;
}

export type Started = Extract<WireEvent, { type: 'started' }>;

export class AudioForkCodec implements MediaCodec {
  readonly #options: AudioForkOptions;
  #isStarted = false;
  #isStereo = false;
  /** Outstanding mark names. */
  readonly #marks = new Set<string>();

  constructor(options: AudioForkOptions = {}) {
    this.#options = options;
  }

  read(bytes: Buffer, isBinary: boolean): WireEvent {
    if (bytes.length > maxMessageBytes) return rejected(`message of ${bytes.length} bytes`);
    if (isBinary) {
      // Metadata come first, if any.
      if (!this.#isStarted)
        return this.#options.rateHz === undefined ? { type: 'ignored', name: 'audio before metadata' } : this.#start({});
      if (this.#isStereo) return bothSides(bytes);
      if (bytes.length % 2 !== 0) return rejected('audio ends within a sample');
      return { type: 'audio', payload: bytes, timestampMs: undefined };
    }
    const parsed = message.safeParse(parseJson(bytes.toString('utf8')));
    if (!parsed.success && !this.#isStarted && this.#options.rateHz !== undefined) return this.#start({});
    if (!parsed.success) return rejected('message is not a JSON object');
    return this.#isStarted ? this.#news(parsed.data) : this.#start(parsed.data);
  }

  audio(payload: Uint8Array, to: MessageSink): void {
    const room = to.room(payload.length);
    room.set(payload);
    for (let at = 0; at + 1 < room.length; at += 2) if (room[at] === 0xff && room[at + 1] === 0xff) room[at] = MARK_SAMPLE - 1;
    to.send('binary', payload.length);
  }

  /** Returns as `playout` when the audio before it was played. Marks beyond the limit are left to the playout clock. */
  mark(name: string, to: MessageSink): void {
    if (this.#marks.size >= MOST_MARKS) return;
    this.#marks.add(name);
    to.sendText(JSON.stringify({ type: 'mark', data: { name } }));
  }

  clear(to: MessageSink): void {
    this.#marks.clear();
    to.sendText('{"type":"killAudio"}');
  }

  /** Ends the `listen` verb; the module then closes the socket. */
  goodbye(_reason: string, to: MessageSink): 'close' | 'wait' {
    if (this.#options.endsBySocket === true) return 'close';
    to.sendText('{"type":"disconnect"}');
    return 'wait';
  }

  #start(value: z.infer<typeof message>): WireEvent {
    const parsed = metadata.safeParse(value);
    if (!parsed.success)
      return fatal(
        'metadata have no usable callSid, sampleRate or mixType; accepted are a text, a number, and mono, mixed or stereo',
      );
    const { sampleRate: rateHz = this.#options.rateHz, mixType = 'mono', callSid } = parsed.data;
    if (rateHz === undefined || !RATES_HZ.includes(rateHz))
      return fatal(`sampleRate is ${String(rateHz)}; accepted are ${RATES_HZ.join(', ')}`);
    const format = { encoding: 'pcm16', rateHz } as const;
    const plain: Started = {
      type: 'started',
      // Streams have no id: a call has one at a time.
      streamId: callSid ?? '',
      carrierCallId: callSid,
      inbound: format,
      outbound: format,
      parameters: parametersOf(parsed.data),
    };
    const started = this.#options.started?.(parsed.data, plain) ?? plain;
    const isStereo = started.call?.mode === 'listen';
    if (mixType === 'stereo' && !isStereo) return fatal('mixType is stereo; accepted are mono and mixed');
    this.#isStereo = isStereo;
    this.#isStarted = true;
    return started;
  }

  #news(value: z.infer<typeof message>): WireEvent {
    const { type, event } = value;
    // A FreeSWITCH dialplan cannot write a comma.
    if (event === 'dtmf' || (event === undefined && type === undefined && value['dtmf'] !== undefined)) {
      const key = dtmf.safeParse(value);
      return key.success ? { type: 'digit', digit: key.data.dtmf } : rejected('dtmf is not one of 0 to 9, *, #, A to D');
    }
    if (type !== 'mark') return { type: 'ignored', name: (type ?? event ?? 'message without type').slice(0, 40) };
    const news = mark.safeParse(value);
    if (!news.success) return rejected('mark has no data.name and data.event');
    const { name, event: what } = news.data.data;
    this.#marks.delete(name);
    // Cleared audio was not heard. After a clear the module may report later marks under earlier names, also as cleared.
    return what === 'playout' ? { type: 'mark', name } : { type: 'alive' };
  }
}

/** Shared by all sockets; valid until the next message. */
const left = Buffer.alloc(maxMessageBytes / 2);
const right = Buffer.alloc(maxMessageBytes / 2);

function bothSides(bytes: Buffer): WireEvent {
  if (bytes.length % 4 !== 0) return rejected('audio ends within a sample of two channels');
  const half = bytes.length / 2;
  for (let at = 0; at < half; at += 2) {
    bytes.copy(left, at, at * 2, at * 2 + 2);
    bytes.copy(right, at, at * 2 + 2, at * 2 + 4);
  }
  return {
    type: 'audio',
    track: 'caller',
    payload: left.subarray(0, half),
    other: right.subarray(0, half),
    timestampMs: undefined,
  };
}

/** Metadata texts; jambonz escapes their quotes and line ends once more than JSON does. */
function parametersOf(value: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(
    texts.map(([name, text]) => [name, text.replaceAll(/\\(["n\\])/gu, (_, mark: string) => (mark === 'n' ? '\n' : mark))]),
  );
}

function rejected(problem: string): WireEvent {
  return { type: 'rejected', problem };
}

function fatal(problem: string): WireEvent {
  return { type: 'rejected', problem, fatal: true };
}
