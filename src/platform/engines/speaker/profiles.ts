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
