import { sine } from '../../../src/audio/tone.ts';
import type { VendorEngines } from './engines.ts';

/** Engines whose words are how many loud samples they were given, and whose voice is a tone of 100 ms. */
export const counting: VendorEngines = {
  recognise({ language }, listener) {
    let loud = 0;
    return {
      push(pcm) {
        if (pcm.some((sample) => Math.abs(sample) > 1_000)) loud += pcm.length;
        if (loud > 0) listener({ type: 'partial', text: `${language} so far` });
      },
      commit: () => listener({ type: 'final', text: loud === 0 ? '' : `${language} ${loud}` }),
      close: () => undefined,
    };
  },
  async *speak({ rateHz }) {
    yield sine(440, 100, rateHz);
  },
};

/** So many samples of something loud. */
export function loud(samples: number): Int16Array {
  return new Int16Array(samples).fill(9_000);
}
