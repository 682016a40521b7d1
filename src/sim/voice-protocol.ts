/** What the caller's voice is asked over IPC. */
export interface VoiceRequest {
  readonly id: number;
  readonly text: string;
  readonly language: string;
  readonly voice: string;
  /** 1 is the voice's own speed, 2 twice as fast. */
  readonly rate: number;
}

/** What it answers: a whole WAV file or bare 16-bit samples, in base64; or what went wrong. */
export type VoiceAnswer =
  | { readonly id: number; readonly rateHz: number; readonly wav: string | undefined; readonly pcm: string | undefined }
  | { readonly id: number; readonly error: string };
