import type { EngineVoice } from '../port.ts';

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
