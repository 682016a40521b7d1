/** What a neural network remembers of one line. */
export interface ModelLine {
  /** @param frame 160 samples at 8 kHz; not kept @returns how likely it is speech, 0 to 1 */
  judge(frame: Int16Array): number;
  close(): void;
}

/** A neural network that tells speech from other sound, loaded once for all lines. */
export interface SpeechModel {
  open(): ModelLine;
}
