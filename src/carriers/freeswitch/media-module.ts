import { z } from 'zod';
import { base64Length, encodeBase64Into } from '../base64.ts';
import { AudioForkCodec, FRAME_MS, type Started } from '../jambonz/codec.ts';
import type { MediaCodec, MessageSink, WireEvent } from '../media-codec.ts';
import type { CarrierCapabilities } from '../port.ts';

/**
 * FreeSWITCH has no media socket of its own. These modules add one:
 * - `mod_audio_fork` of jambonz (jambonz/freeswitch-modules): samples both ways, marks and a clear
 * - `mod_audio_stream` of amigniter, community build: returned audio is written into a file that an application must play
 * - its commercial build (v1.0.3 and later): raw samples are played as they arrive
 */
export const MODULES = ['mod_audio_fork', 'mod_audio_stream', 'mod_audio_stream_commercial'] as const;
export type MediaModule = (typeof MODULES)[number];

/** Name of our media bug on a channel. */
export const BUG_NAME = 'offhook';

/** Clip length for the community build: shorter clips leave more gaps, longer ones answer later. */
const CLIP_MS = 500;

export const capabilitiesOf: Readonly<Record<MediaModule, CarrierCapabilities>> = {
  mod_audio_fork: {
    clear: 'native',
    marks: 'native',
    marksReturnOnClear: 'no',
    marksAtEndsOnly: true,
    pacing: 'burst',
    frameMs: FRAME_MS,
    dtmfOut: 'rest',
    closeEndsCall: true,
  },
  mod_audio_stream: {
    clear: 'none',
    marks: 'none',
    marksReturnOnClear: 'no',
    pacing: 'realtime',
    frameMs: 20,
    messageMs: CLIP_MS,
    dtmfOut: 'rest',
    closeEndsCall: true,
  },
  mod_audio_stream_commercial: {
    clear: 'none',
    marks: 'none',
    marksReturnOnClear: 'no',
    // Its queue limit is undocumented.
    pacing: 'realtime',
    frameMs: 20,
    dtmfOut: 'rest',
    closeEndsCall: true,
  },
};

export interface MediaStart {
  readonly module: MediaModule;
  readonly id: string;
  readonly url: string;
  readonly rateHz: number;
  /** `stereo` for a copy of both sides of a call; nothing is played into it. */
  readonly mix: 'mono' | 'stereo';
}

/** The API command that opens the media socket of a channel. */
export function startCommand({ module, id, url, rateHz, mix }: MediaStart): string {
  const isCopy = mix === 'stereo';
  const metadata = isCopy ? JSON.stringify({ call: id, mode: 'listen' }) : BUG_NAME;
  if (module !== 'mod_audio_fork') return `uuid_audio_stream ${id} start ${url} ${mix} ${rateHz / 1000}k ${metadata}`;
  const start = `uuid_audio_fork ${id} start ${url} ${mix} ${rateHz}`;
  // Name, metadata, then whether and at which rate our samples are played as a stream.
  return isCopy ? `${start} ${BUG_NAME}-listen ${metadata}` : `${start} ${BUG_NAME} ${metadata} true true ${rateHz}`;
}

export function stopCommand(module: MediaModule, id: string): string {
  return module === 'mod_audio_fork' ? `uuid_audio_fork ${id} stop ${BUG_NAME}` : `uuid_audio_stream ${id} stop ${BUG_NAME}`;
}

const facts = z.object({
  call: z.string().regex(/^[\w.-]{1,128}$/u),
  from: z.string().max(80).catch(''),
  to: z.string().max(80).catch(''),
  mode: z.literal('listen').optional().catch(undefined),
});

/** @param rateHz where the metadata have none */
export function codecOf(module: MediaModule, rateHz: number): MediaCodec {
  const fork = new AudioForkCodec({
    rateHz,
    endsBySocket: true,
    started: (metadata, started) => startedOf(module, metadata, started),
  });
  return module === 'mod_audio_fork' ? fork : new AudioStreamCodec(fork, module === 'mod_audio_stream', rateHz);
}

/**
 * The dialplan writes the metadata: `{"call":"<uuid>","from":"…","to":"…"}` names a call that the address does not; `"mode":"listen"` marks a call
 * between people, in stereo.
 */
function startedOf(module: MediaModule, metadata: Readonly<Record<string, unknown>>, started: Started): Started {
  const call = facts.safeParse(metadata);
  const capabilities = capabilitiesOf[module];
  if (!call.success) return { ...started, capabilities };
  const { call: carrierCallId, from, to, mode } = call.data;
  const about = { from, to, direction: 'inbound', ...(mode && { mode }) } as const;
  return { ...started, streamId: carrierCallId, carrierCallId, call: about, capabilities };
}

/** mod_audio_stream (github.com/amigniter/mod_audio_stream): inbound samples as from mod_audio_fork; outbound is audio only. */
class AudioStreamCodec implements MediaCodec {
  readonly #fork: AudioForkCodec;
  readonly #asClips: boolean;
  readonly #rateHz: number;

  constructor(fork: AudioForkCodec, asClips: boolean, rateHz: number) {
    this.#fork = fork;
    this.#asClips = asClips;
    this.#rateHz = rateHz;
  }

  read(message: Buffer, isBinary: boolean): WireEvent {
    return this.#fork.read(message, isBinary);
  }

  audio(payload: Uint8Array, to: MessageSink): void {
    if (!this.#asClips) {
      to.room(payload.length).set(payload);
      to.send('binary', payload.length);
      return;
    }
    const before = `{"type":"streamAudio","data":{"audioDataType":"raw","sampleRate":${this.#rateHz},"audioData":"`;
    const length = before.length + base64Length(payload.length) + 3;
    const room = to.room(length);
    const text = Buffer.from(room.buffer, room.byteOffset, room.length);
    text.write(before, 'latin1');
    text.write('"}}', encodeBase64Into(payload, room, before.length), 'latin1');
    to.send('text', length);
  }

  mark(): void {}

  clear(): void {}
}
