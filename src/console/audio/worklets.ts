import microphone from './microphone-worklet.ts?worker&url';
import speaker from './speaker-worklet.ts?worker&url';

/** Addresses of the audio threads' programs: files of their own, as the page's policy wants it. */
export const WORKLETS = { microphone, speaker } as const;
