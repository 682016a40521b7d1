import { SAME_VOICE } from './embedding.ts';
import type { SpeakerProfile } from './profiles.ts';
import type { SpeakerEngine } from './speaker-engine.ts';

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
