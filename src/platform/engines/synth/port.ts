import { OffhookError } from '../../../kernel/errors.ts';

/** What a cloned voice takes from its reference clip. */
export interface VoiceLikeness {
  readonly pitchHz: number;
  /** Range of the pitch between its 10th and 90th percentile. */
  readonly rangeSemitones: number;
  /** The shape of its spectrum: mean cepstral coefficients of its voiced frames in the telephone band, without the level. */
  readonly shape: readonly number[];
  /** 1 is the pace of the built-in voices; known only with a transcript of the clip. */
  readonly pace: number | undefined;
}

/** Speaks text as PCM, chunk by chunk; the port of every synthesis engine. */
export interface SynthesisEngine {
  /**
   * Yields 16-bit mono PCM in chunks of about 100 ms. Breaking out of the loop or aborting stops the engine.
   * @throws SynthesisUnavailableError when the engine's process is down, SynthesisRefusedError when the text cannot be spoken,
   * or the signal's reason
   */
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<SynthesisChunk>;
  readonly voices: readonly EngineVoice[];
  readonly defaultVoice: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SynthesisRequest {
  readonly text: string;
  /** A name in `voices`, case ignored; an unknown one is refused. */
  readonly voice: string;
  /** ISO 639 code; undefined: told from the script of the text, then from the voice. */
  readonly language: string | undefined;
  /** 0.5 to 2; 1 is the voice's own pace. */
  readonly speed: number;
  /** Pitch and range to speak with, in place of the voice's own. */
  readonly likeness?: VoiceLikeness | undefined;
  /** Level all sentences together, which waits for the last of them; otherwise each by itself. */
  readonly levelWhole?: boolean;
  /** Priority of the request; a live call when absent. */
  readonly priority?: 'live' | 'batch';
}

export interface SynthesisChunk {
  readonly pcm: Int16Array;
  readonly rateHz: number;
}

export interface EngineVoice {
  readonly name: string;
  /** ISO 639 code of the language the voice is meant for. */
  readonly language: string;
  readonly gender: 'female' | 'male';
}

/** The synthesizer's process ended, did not start, or waits for its restart. */
export class SynthesisUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_SYNTHESIS_UNAVAILABLE';
  readonly retryable = true;
}

/**
 * This text cannot be spoken: an unknown voice, a language without a voice, or a script the engine cannot read. Clients see the
 * message, so it holds none of the engine's own text.
 */
export class SynthesisRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_SYNTHESIS_REFUSED';
  readonly retryable = false;
}
