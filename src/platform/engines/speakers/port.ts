import type { VoiceWindow } from './voice-track.ts';
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

export interface SpokenTurn {
  readonly startS: number;
  readonly endS: number;
  /** From 0 in the order of first appearance. */
  readonly speaker: number;
}

export interface Diarization {
  /** In order of time; none overlap. */
  readonly turns: readonly SpokenTurn[];
  /** One a speaker, from all of what it said. */
  readonly embeddings: readonly Float32Array[];
}

/** What was heard of a recording, in order of time. */
export interface HeardSpeech {
  readonly windows: readonly VoiceWindow[];
  readonly tape: SpeechTape;
}

/** The similarity from which two recordings count as one voice. */
export const SAME_VOICE = 0.7;

/** A registered voice. */
export interface SpeakerProfile {
  readonly name: string;
  /** Groups profiles; empty when none was named. */
  readonly project: string;
  /** Kind of the embedding: `SpeakerEngine.kind`. */
  readonly kind: string;
  readonly embedding: Float32Array;
}

/** Where the registered voices are kept. */
export interface SpeakerProfiles {
  list(project: string): Promise<readonly SpeakerProfile[]>;
}

export interface Identified {
  /** Undefined when nobody registered sounds like it. */
  readonly name: string | undefined;
  /** Similarity to the nearest profile, 0 to 1; 0 when there is none. */
  readonly confidence: number;
}

/** Finds the registered voice nearest to this one, if it is one voice with it; profiles of another kind do not count. */
export function identifySpeaker(
  embedding: Float32Array,
  profiles: readonly SpeakerProfile[],
  { kind, similarity }: Pick<SpeakerEngine, 'kind' | 'similarity'>,
): Identified {
  let name: string | undefined;
  let confidence = 0;
  for (const profile of profiles) {
    if (profile.kind !== kind) continue;
    const alike = similarity(embedding, profile.embedding);
    if (alike > confidence) [name, confidence] = [profile.name, alike];
  }
  return confidence >= SAME_VOICE ? { name, confidence } : { name: undefined, confidence };
}
