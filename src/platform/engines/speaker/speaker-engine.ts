import type { Diarization } from '../diarise/diarise.ts';
import type { VoiceWindow } from '../diarise/voice-track.ts';
import type { SpeechTape } from './speech-tape.ts';

/** Describes voices, and tells who speaks when in a recording. */
export interface SpeakerEngine extends AsyncDisposable {
  /** Names the kind of its embeddings: one of another kind is like none of them. */
  readonly kind: string;
  /** Speech of a recording to keep for `diarise`; 0 where the windows are enough. */
  readonly tapeSeconds: number;
  /**
   * @param pcm16k mono at 16 kHz; three seconds of speech or more are worth comparing
   * @returns all zeros when there is no voice in it
   * @throws RecognitionUnavailableError when its thread is down
   */
  embed(pcm16k: Int16Array): Promise<Float32Array>;
  /** How alike two voices are, 0 to 1; `SAME_VOICE` and above is one voice. */
  similarity(a: Float32Array, b: Float32Array): number;
  /** @param most speakers there are; fewer are found when no more can be told apart. @throws as `embed` does */
  diarise(heard: HeardSpeech, most: number): Promise<Diarization>;
}

/** What was heard of a recording, in order of time. */
export interface HeardSpeech {
  readonly windows: readonly VoiceWindow[];
  readonly tape: SpeechTape;
}
