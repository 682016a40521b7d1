import type {
  RecognitionEngine,
  RecognitionEngineEvent,
  RecognitionOptions,
  RecognitionResult,
  RecognitionStream,
} from '../../../src/platform/engines/recognise/port.ts';

export interface ScriptedLine {
  readonly text: string;
  readonly alternatives?: readonly string[];
}

/** Hears what a script says, one line a commit, its words spread evenly over the audio of that commit. */
export class ScriptedRecogniser implements RecognitionEngine {
  readonly languages = ['en', 'hi'];
  readonly opened: RecognitionOptions[] = [];
  /** What the next stream hears. */
  lines: readonly ScriptedLine[] = [];

  open(options: RecognitionOptions, _listener: (event: RecognitionEngineEvent) => void): RecognitionStream {
    this.opened.push(options);
    const lines = [...this.lines];
    let [committed, pushed] = [0, 0];
    return {
      push: (pcm) => {
        pushed += pcm.length;
      },
      commit: async () => {
        const { text, alternatives = [] } = lines.shift() ?? { text: '' };
        const [startS, endS] = [committed / options.rateHz, pushed / options.rateHz];
        committed = pushed;
        return [lineHeard(text, alternatives, startS, endS, options.language === 'auto' ? 'en' : options.language)];
      },
      close: () => undefined,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function lineHeard(text: string, others: readonly string[], startS: number, endS: number, language: string): RecognitionResult {
  const spoken = text.split(' ').filter((word) => word !== '');
  const each = (endS - startS) / Math.max(1, spoken.length);
  const words = spoken.map((word, index) => {
    const at = startS + index * each;
    return { word, startS: at, endS: at + each, confidence: 0.9 };
  });
  const alternatives = [text, ...others].map((alternative, rank) => ({ text: alternative, confidence: 0.9 - rank / 10 }));
  return { text, words, startS, endS, confidence: 0.9, language, alternatives };
}
