/** What an audio worklet finds in its global scope (Web Audio API, section 1.32); TypeScript's DOM types have the page's side alone. */
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
  abstract process(inputs: readonly Float32Array[][], outputs: readonly Float32Array[][]): boolean;
}
declare const sampleRate: number;
declare function registerProcessor(
  name: string,
  processor: new (options: { readonly processorOptions: never }) => AudioWorkletProcessor,
): void;
