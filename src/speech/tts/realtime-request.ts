import type { AudioFormat } from '../../audio/format.ts';
import { SpeechRequestError } from '../client/errors.ts';
import type { SlotPriority } from '../client/slots.ts';
import { checkText, type SpeechFormat, streamEncoding } from './speech-fields.ts';

/**
 * The three equivalent ways to request a synthesis (TTS doc, "WebSocket"): everything in one message, settings in a config message
 * before it, or settings in the address. The text never goes into the address, which is logged.
 */
export type RequestStyle = 'message' | 'config' | 'query';

/** A text to speak over the socket (TTS doc, "WebSocket {tts_url}/v1/realtime"). */
export interface StreamedSpeechOptions {
  /** 1 to 10,000 characters. */
  readonly text: string;
  /** A name from the health answer. */
  readonly voice: string;
  /** ISO 639 code of an Indic language or English; detected from the script when absent. */
  readonly language?: string;
  /** 0.25 to 4.0; 1.0 when absent. */
  readonly speed?: number | undefined;
  /** Removes silence below -40 dB at both ends. */
  readonly trimSilence?: boolean;
  /** `pcm` (16-bit little-endian), `mulaw` or `alaw`; containers are refused. `pcm` when absent. */
  readonly format?: SpeechFormat;
  /** Rate of the yielded audio, resampled if needed; 8,000 for mulaw and alaw and 24,000 for pcm when absent. */
  readonly sampleRateHz?: number;
  /** `message` when absent. */
  readonly style?: RequestStyle;
  /** `live` when absent. */
  readonly priority?: SlotPriority | undefined;
}

/** The messages of one synthesis, and the format of its audio. */
export interface WireRequest {
  readonly wanted: AudioFormat;
  /** Query of the socket's address; such a socket serves only this request. */
  readonly query: Readonly<Record<string, string>> | undefined;
  readonly messages: readonly object[];
  readonly priority: SlotPriority;
}

const PCM_RATE_HZ = 24_000;
const LINE_RATE_HZ = 8_000;

/** @throws SpeechRequestError for an invalid text, speed or format */
export function wireRequest(options: StreamedSpeechOptions): WireRequest {
  const { text, voice, language, speed, trimSilence, format = 'pcm', style = 'message', priority = 'live' } = options;
  checkText(text);
  if (speed !== undefined && !(speed >= 0.25 && speed <= 4))
    throw new SpeechRequestError(`synthesis: speed is 0.25 to 4, not ${speed}`);
  const encoding = streamEncoding(format);
  const rateHz = options.sampleRateHz ?? (encoding === 'pcm16' ? PCM_RATE_HZ : LINE_RATE_HZ);
  if (!Number.isInteger(rateHz) || rateHz < 1_000 || rateHz > 192_000)
    throw new SpeechRequestError(`synthesis: a sample rate is 1000 to 192000 Hz, not ${rateHz}`);
  const settings: Readonly<Record<string, string | number | boolean>> = {
    voice,
    response_format: format,
    ...(language === undefined ? {} : { language }),
    ...(speed === undefined ? {} : { speed }),
    ...(trimSilence === undefined ? {} : { trim_silence: trimSilence }),
  };
  const base = { wanted: { encoding, rateHz }, priority };
  // The documents require model, input and voice in the start message, also after a config message.
  const start = { model: 'zero-indic', input: text, voice };
  switch (style) {
    case 'message':
      return { ...base, query: undefined, messages: [{ ...start, ...settings }] };
    case 'config':
      return { ...base, query: undefined, messages: [{ type: 'config', model: 'zero-indic', ...settings }, start] };
    case 'query': {
      // In an address PCM is requested as `encoding` (TTS doc, "WebSocket", way 1).
      const named = Object.entries(settings).map(([name, value]): [string, string] =>
        name === 'response_format' && format === 'pcm' ? ['encoding', 'pcm'] : [name, String(value)],
      );
      return { ...base, query: { model: 'zero-indic', ...Object.fromEntries(named) }, messages: [start] };
    }
  }
}
