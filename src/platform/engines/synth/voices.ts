import type { EngineVoice } from './port.ts';

/**
 * The 46 voices: a man and a woman for each of the vendor's 23 languages, English included. The names are the vendor's (reference,
 * fact 18). Any voice speaks any language; its own language is used when the text does not tell.
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

/** Finds a voice by name, case ignored. */
export function findVoice(name: string): EngineVoice | undefined {
  return byName.get(name.trim().toLowerCase());
}

/** How an espeak voice is varied: a formant variant and a pitch (0 to 99). */
export interface VoiceSound {
  readonly variant: string;
  readonly pitch: number;
}

const men = soundPalette(['m3', 42], ['m1', 48], ['m7', 40], ['m2', 46]);
const women = soundPalette(['f2', 52], ['f4', 58], ['f3', 50], ['f1', 55]);

/** espeak has one voice a language, so a name selects one of four variants by gender, in turn down the table. */
export function espeakSound(name: string): VoiceSound {
  const index = voices.findIndex((voice) => voice.name === name);
  const palette = voices[index]?.gender === 'female' ? women : men;
  return palette[(Math.max(0, index) >> 1) % palette.length] ?? palette[0];
}

type Variant = readonly [variant: string, pitch: number];

function soundPalette(first: Variant, ...others: readonly Variant[]): readonly [VoiceSound, ...VoiceSound[]] {
  const soundOf = ([variant, pitch]: Variant): VoiceSound => ({ variant, pitch });
  return [soundOf(first), ...others.map(soundOf)];
}
