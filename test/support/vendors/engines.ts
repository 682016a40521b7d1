/** One stream of a simulated vendor's recogniser. */
export interface SimulatedRecognition {
  /** 16-bit mono samples at the rate it was opened with. */
  push(pcm: Int16Array): void;
  /** Recognises what was pushed since the last commit; its words come as one `final`, empty where there were none. */
  commit(): void;
  close(): void;
}

/**
 * What stands behind the simulators of speech vendors: scripted words and tones in most tests, the embedded platform in the
 * conversation suite. The simulator speaks the vendor's protocol and knows none of it.
 */
export interface VendorEngines {
  recognise(
    options: { readonly language: string; readonly rateHz: number; readonly hints: readonly string[] },
    listener: (event: { readonly type: 'partial' | 'final'; readonly text: string }) => void,
  ): SimulatedRecognition;
  /** @returns 16-bit mono samples at the rate */
  speak(options: {
    readonly text: string;
    readonly language: string;
    readonly voice: string;
    readonly rateHz: number;
  }): AsyncIterable<Int16Array>;
}
