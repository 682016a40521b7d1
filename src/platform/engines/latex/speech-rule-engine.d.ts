declare module 'speech-rule-engine' {
  /** The part we use; the package ships no types. */
  interface SpeechRuleEngine {
    setupEngine(options: Readonly<Record<string, string>>): Promise<unknown>;
    engineReady(): Promise<unknown>;
    /** MathML as words; '' when it cannot read it. */
    toSpeech(mathMl: string): string;
  }
  const engine: SpeechRuleEngine;
  export default engine;
}
