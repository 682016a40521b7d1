import { diarise } from '../diarise/diarise.ts';
import { embedSpeaker, similarity } from './embedding.ts';
import type { SpeakerEngine } from './speaker-engine.ts';

/** Voices by their cepstrum and pitch; needs no model. */
export const builtInSpeakers: SpeakerEngine = {
  kind: 'built-in',
  tapeSeconds: 0,
  embed: async (pcm16k) => embedSpeaker(pcm16k),
  similarity,
  diarise: async ({ windows }, most) => diarise(windows, most),
  [Symbol.asyncDispose]: async () => undefined,
};
