import { voices } from './voices.ts';

/** How an espeak voice is varied: a formant variant and a pitch (0 to 99). */
export interface VoiceSound {
  readonly variant: string;
  readonly pitch: number;
}

const men: readonly VoiceSound[] = [
  { variant: 'm3', pitch: 42 },
  { variant: 'm1', pitch: 48 },
  { variant: 'm7', pitch: 40 },
  { variant: 'm2', pitch: 46 },
];
const women: readonly VoiceSound[] = [
  { variant: 'f2', pitch: 52 },
  { variant: 'f4', pitch: 58 },
  { variant: 'f3', pitch: 50 },
  { variant: 'f1', pitch: 55 },
];

/**
 * espeak has one voice a language, so a name picks a variant: four men's and four women's in turn down the table, never
 * two alike in one language.
 */
export function espeakSound(name: string): VoiceSound {
  const index = voices.findIndex((voice) => voice.name === name);
  const palette = voices[index]?.gender === 'female' ? women : men;
  return palette[(Math.max(0, index) >> 1) % palette.length]!;
}
