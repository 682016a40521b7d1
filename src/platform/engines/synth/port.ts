import { OffhookError } from '../../../kernel/errors.ts';

/** What a cloned voice takes over from its reference clip, and no more than that. */
export interface VoiceLikeness {
  readonly pitchHz: number;
  /** How far the pitch moves: between its tenth and ninetieth percentile. */
  readonly rangeSemitones: number;
}

/** One synthesizer, whichever engine is behind it: text in, PCM out as it is made. */
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
  /** A name of `voices`, in any case; an unknown one is refused. */
  readonly voice: string;
  /** ISO 639 code; undefined lets the script of the text decide, then the voice. */
  readonly language: string | undefined;
  /** 1 is the voice's own pace; 0.5 to 2. */
  readonly speed: number;
  /** Pitch and range to speak with, in place of the voice's own. */
  readonly likeness?: VoiceLikeness | undefined;
  /** Level all sentences as one, which has to wait for the last of them; else each by itself, as it comes. */
  readonly levelWhole?: boolean;
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

/** The synthesizer's process died, did not start, or is waiting to be started again. */
export class SynthesisUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_SYNTHESIS_UNAVAILABLE';
  readonly retryable = true;
}

/**
 * This text cannot be spoken: an unknown voice, a language without one, or a script that the engine has no letters for.
 * Clients are shown its message: it holds no words of the engine's own.
 */
export class SynthesisRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_SYNTHESIS_REFUSED';
  readonly retryable = false;
}
