import type { CallSpeech } from '../../../../src/speech/port.ts';
import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../../../src/speech/platform-capabilities.ts';

/** Speech of a call that is never heard and says nothing. */
export const silentSpeech: CallSpeech = {
  recogniser: {
    capabilities: PLATFORM_RECOGNITION,
    open: () => ({ send: () => undefined, commit: () => undefined, end: async () => undefined, abort: () => undefined }),
  },
  synthesizer: { capabilities: PLATFORM_SYNTHESIS, speak: async function* () {} },
  spareRecognition: () => undefined,
  listen: () => undefined,
  release: () => undefined,
};
