import type { SpeechTape } from './speech-tape.ts';

/** Embeds voices and diarizes recordings; the port of every speaker engine. */
export interface SpeakerEngine extends AsyncDisposable {
  /** Kind of its embeddings: those of different kinds are never compared. */
  readonly kind: string;
  /** Seconds of speech to record for `diarise`; 0 where the windows are enough. */
  readonly tapeSeconds: number;
  /**
   * @param pcm16k mono at 16 kHz; at least three seconds of speech for a useful comparison
   * @returns all zeros when there is no voice in it
   * @throws RecognitionUnavailableError when the engine's thread is down
   */
  embed(pcm16k: Int16Array): Promise<Float32Array>;
  /** Similarity of two voices, 0 to 1; from `SAME_VOICE` on two recordings of some seconds are taken for one voice. */
  similarity(a: Float32Array, b: Float32Array): number;
  /** The similarity from which a voice is given a profile's name: a wrong name is worse than none. */
  readonly identifiesFrom: number;
  /** @param most number of speakers; fewer are found when no more can be told apart. @throws as `embed` does */
  diarise(speech: RecordedSpeech, most: number): Promise<Diarization>;
}

/** The speech of a recording, in order of time. */
export interface RecordedSpeech {
  readonly windows: readonly VoiceWindow[];
  readonly tape: SpeechTape;
}

/** Features of 1.5 s of speech. Windows of one stretch overlap; each stands for the time around its middle. */
export interface VoiceWindow {
  /** The time the window stands for, in seconds of the recording. */
  readonly startS: number;
  readonly endS: number;
  /** Number of the stretch of speech; there is no silence between windows of one stretch. */
  readonly stretch: number;
  /** As `voiceStatistics` returns them; undefined where too little is voiced. */
  readonly statistics: Float64Array | undefined;
  /** dB of the louder half, on no absolute scale. */
  readonly level: number;
}

export interface SpokenTurn {
  readonly startS: number;
  readonly endS: number;
  /** From 0, numbered by first appearance. */
  readonly speaker: number;
}

export interface Diarization {
  /** In order of time, without overlap. */
  readonly turns: readonly SpokenTurn[];
  /** One for each speaker, from all of the speaker's speech. */
  readonly embeddings: readonly Float32Array[];
}

/** The similarity from which two recordings count as one voice. */
export const SAME_VOICE = 0.7;

/** A registered voice. */
export interface SpeakerProfile {
  readonly name: string;
  /** Groups profiles; may be empty. */
  readonly project: string;
  /** Kind of the embedding: `SpeakerEngine.kind`. */
  readonly kind: string;
  readonly embedding: Float32Array;
}

/** The registered voices. */
export interface SpeakerProfiles {
  list(project: string): Promise<readonly SpeakerProfile[]>;
}

export interface Identified {
  /** Undefined when no registered voice is similar enough. */
  readonly name: string | undefined;
  /** Similarity to the nearest profile, 0 to 1; 0 when there is none. */
  readonly confidence: number;
}

/** Finds the most similar registered voice, if it is the same voice; profiles of another kind are ignored. */
export function identifySpeaker(
  embedding: Float32Array,
  profiles: readonly SpeakerProfile[],
  { kind, similarity, identifiesFrom }: Pick<SpeakerEngine, 'kind' | 'similarity' | 'identifiesFrom'>,
): Identified {
  let name: string | undefined;
  let confidence = 0;
  for (const profile of profiles) {
    if (profile.kind !== kind) continue;
    const alike = similarity(embedding, profile.embedding);
    if (alike > confidence) [name, confidence] = [profile.name, alike];
  }
  return confidence >= identifiesFrom ? { name, confidence } : { name: undefined, confidence };
}
