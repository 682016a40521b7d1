import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import type { VendorEngines } from './engines.ts';

/** Quieter audio has no words. */
const VOICE_DB = -40;
const SPOKEN_MS_PER_CHARACTER = 20;
const CHUNK_MS = 100;

export interface ScriptedEngines extends VendorEngines {
  /** What the next commits with speech hear, oldest first; "…" once they are used up. */
  readonly texts: string[];
  /** Options of every recognition that was opened. */
  readonly opened: Parameters<VendorEngines['recognise']>[0][];
  readonly spoken: Parameters<VendorEngines['speak']>[0][];
}

/** Engines that hear a list of texts, whatever is said, and speak a tone as long as the text. */
export function scriptedEngines(...texts: string[]): ScriptedEngines {
  const opened: ScriptedEngines['opened'] = [];
  const spoken: ScriptedEngines['spoken'] = [];
  return {
    texts,
    opened,
    spoken,
    recognise(options, listener) {
      opened.push(options);
      let voiced = false;
      return {
        push: (pcm) => (voiced ||= rmsLevelDb(pcm) > VOICE_DB),
        commit() {
          const text = voiced ? (texts.shift() ?? '…') : '';
          voiced = false;
          listener({ type: 'final', text });
        },
        close: () => undefined,
      };
    },
    async *speak(options) {
      spoken.push(options);
      const { text, rateHz } = options;
      const pcm = sine(440, text.length * SPOKEN_MS_PER_CHARACTER, rateHz);
      const chunk = (CHUNK_MS * rateHz) / 1000;
      for (let at = 0; at < pcm.length; at += chunk) yield pcm.subarray(at, at + chunk);
    },
  };
}
