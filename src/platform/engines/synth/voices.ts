import type { EngineVoice } from './port.ts';

/**
 * The 46 voices: a man's and a woman's for each of the 23 languages as the vendor counts them, English among them. Names
 * from the vendor's public material (speech-platform reference, fact 18). Any voice may be asked for any language; the
 * home language decides only where the text does not.
 */
const pairs = {
  as: ['Bimal', 'Anjana'],
  bn: ['Arjun', 'Priyanka'],
  brx: ['Daimalu', 'Hasina'],
  doi: ['Vishal', 'Neelam'],
  en: ['Varun', 'Nisha'],
  gu: ['Rakesh', 'Pooja'],
  hi: ['Rajesh', 'Sunita'],
  kn: ['Kiran', 'Shreya'],
  ks: ['Farooq', 'Habba'],
  kok: ['Mohan', 'Sarita'],
  mai: ['Suresh', 'Meera'],
  ml: ['Krishnan', 'Deepa'],
  mni: ['Tomba', 'Ibemhal'],
  mr: ['Siddharth', 'Ananya'],
  ne: ['Bikash', 'Sapana'],
  or: ['Bijay', 'Sujata'],
  pa: ['Gurpreet', 'Simran'],
  sa: ['Vedant', 'Gayatri'],
  sat: ['Chandu', 'Roshni'],
  sd: ['Amjad', 'Kavita'],
  ta: ['Murugan', 'Thangam'],
  te: ['Vishnu', 'Lakshmi'],
  ur: ['Salman', 'Fatima'],
} as const;

export const voices: readonly EngineVoice[] = Object.entries(pairs).flatMap(([language, [man, woman]]) => [
  { name: man, gender: 'male', language } as const,
  { name: woman, gender: 'female', language } as const,
]);

export const defaultVoice = 'Rajesh';

const byName = new Map(voices.map((voice) => [voice.name.toLowerCase(), voice]));

/** In any case. */
export function findVoice(name: string): EngineVoice | undefined {
  return byName.get(name.trim().toLowerCase());
}

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
