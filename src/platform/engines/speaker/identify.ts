import { SAME_VOICE, similarity } from './embedding.ts';
import type { SpeakerProfile } from './profiles.ts';

export interface Identified {
  /** Undefined when nobody registered sounds like it. */
  readonly name: string | undefined;
  /** Similarity to the nearest profile, 0 to 1; 0 when there is none. */
  readonly confidence: number;
}

/** Finds the registered voice nearest to this one, if it is at least `threshold` like it. */
export function identifySpeaker(
  embedding: Float32Array,
  profiles: readonly SpeakerProfile[],
  threshold = SAME_VOICE,
): Identified {
  let name: string | undefined;
  let confidence = 0;
  for (const profile of profiles) {
    const alike = similarity(embedding, profile.embedding);
    if (alike > confidence) [name, confidence] = [profile.name, alike];
  }
  return confidence >= threshold ? { name, confidence } : { name: undefined, confidence };
}
