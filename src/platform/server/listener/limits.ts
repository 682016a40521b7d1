/** All limits of the platform: the documents' numbers where they give one, otherwise ours (D). */
export interface PlatformLimits {
  /** Concurrent requests per API key and service (ASR and TTS docs, limits). */
  readonly concurrentPerKey: number;
  /** Tokens minted per API key in any minute (platform doc, limits). */
  readonly mintsPerMinute: number;
  /** Largest audio of a batch transcription (ASR doc: 500 MB, read as 500 MiB inclusive). */
  readonly audioBytes: number;
  /** Longest audio of a batch transcription (ASR doc: 4 hours). */
  readonly audioSeconds: number;
  /** Largest JSON body: 10,000 characters of four bytes, escaped, and a reference clip in base64. */
  readonly jsonBytes: number;
  /** Largest message on a recognition socket. */
  readonly asrFrameBytes: number;
  /** Largest message on a synthesis socket. */
  readonly ttsFrameBytes: number;
  /** Time between the upgrade and a valid init frame. */
  readonly initMs: number;
  /** Inactivity after which a socket is closed. */
  readonly inactivityMs: number;
  /** Longest life of a recognition socket. */
  readonly sessionMs: number;
  /** Sockets open at once on one listener, with or without an init frame. */
  readonly sockets: number;
  /** Time a body other than an upload may take to arrive. */
  readonly bodyMs: number;
  /** Batch synthesis or transcription that takes longer is answered 504 (TTS doc, errors). */
  readonly batchMs: number;
  /** A synthesis chunk that takes longer ends the stream (TTS doc, errors). */
  readonly chunkMs: number;
}

export const defaultLimits: PlatformLimits = {
  concurrentPerKey: 16,
  mintsPerMinute: 60,
  audioBytes: 500 * 1024 * 1024,
  audioSeconds: 4 * 60 * 60,
  jsonBytes: 4 * 1024 * 1024,
  asrFrameBytes: 1024 * 1024,
  ttsFrameBytes: 4 * 1024 * 1024,
  initMs: 10_000,
  inactivityMs: 300_000,
  sessionMs: 3_600_000,
  sockets: 1024,
  bodyMs: 30_000,
  batchMs: 300_000,
  chunkMs: 30_000,
};
