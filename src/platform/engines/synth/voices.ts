import type { EngineVoice } from './port.ts';

/** The engine's own sample rate. */
export const OWN_RATE_HZ = 22_050;

/** How a voice sounds. */
export interface VoiceSound {
  /** espeak's variant of formants and source. */
  readonly variant: string;
  /** espeak's pitch, 0 to 99; 50 is the variant's own. */
  readonly pitch: number;
  /**
   * The rate at which the engine's samples are played. Below its own 22,050 Hz, all formants are lower, as from a longer vocal tract. A
   * multiple of 150 Hz, so that the resampler's filters stay small.
   */
  readonly rateHz: number;
  /** 1 is the usual pace. */
  readonly pace: number;
}

/** A voice's name, then its sound in the order of `VoiceSound`. */
type VoiceRow = readonly [name: string, variant: string, pitch: number, rateHz: number, pace: number];

/**
 * The 46 voices: a man and a woman for each of the vendor's 23 languages, English included. The names are the vendor's (reference,
 * fact 18). Any voice speaks any language; its own language is used when the text does not tell. The sounds were chosen far apart, among
 * variants that the built-in recogniser understands (test/long/voice-distances.test.ts). Those of English and
 * Hindi are the oldest: caches and learnt vocabularies hold them.
 */
const pairs: Readonly<Record<string, readonly [man: VoiceRow, woman: VoiceRow]>> = {
  as: [
    ['Bimal', 'm3', 52, 20_700, 0.95],
    ['Anjana', 'steph', 46, OWN_RATE_HZ, 1.05],
  ],
  bn: [
    ['Arjun', 'pablo', 64, 20_700, 1],
    ['Priyanka', 'linda', 64, 21_150, 0.95],
  ],
  brx: [
    ['Daimalu', 'm8', 42, OWN_RATE_HZ, 1.05],
    ['Hasina', 'aunty', 64, 20_250, 1],
  ],
  doi: [
    ['Vishal', 'sandro', 64, 23_400, 0.95],
    ['Neelam', 'f5', 54, 20_250, 1.05],
  ],
  en: [
    ['Varun', 'm3', 42, OWN_RATE_HZ, 1],
    ['Nisha', 'f2', 52, OWN_RATE_HZ, 1],
  ],
  gu: [
    ['Rakesh', 'victor', 32, OWN_RATE_HZ, 0.95],
    ['Pooja', 'f4', 38, 23_100, 1.05],
  ],
  hi: [
    ['Rajesh', 'm7', 40, OWN_RATE_HZ, 1],
    ['Sunita', 'f3', 50, OWN_RATE_HZ, 1],
  ],
  kn: [
    ['Kiran', 'Diogo', 52, 23_400, 1],
    ['Shreya', 'f5', 64, 20_250, 0.95],
  ],
  ks: [
    ['Farooq', 'iven2', 52, OWN_RATE_HZ, 0.95],
    ['Habba', 'linda', 54, OWN_RATE_HZ, 1.05],
  ],
  kok: [
    ['Mohan', 'michel', 64, 20_700, 1.05],
    ['Sarita', 'f2', 64, 24_300, 1],
  ],
  mai: [
    ['Suresh', 'victor', 64, 23_400, 1.05],
    ['Meera', 'steph3', 64, OWN_RATE_HZ, 1],
  ],
  ml: [
    ['Krishnan', 'm5', 64, 23_400, 1.05],
    ['Deepa', 'f1', 54, 21_150, 1],
  ],
  mni: [
    ['Tomba', 'pablo', 32, 20_700, 1],
    ['Ibemhal', 'f3', 38, 21_150, 0.95],
  ],
  mr: [
    ['Siddharth', 'pablo', 64, OWN_RATE_HZ, 0.95],
    ['Ananya', 'steph3', 46, 20_250, 1.05],
  ],
  ne: [
    ['Bikash', 'Mike', 32, OWN_RATE_HZ, 1.05],
    ['Sapana', 'belinda', 38, 23_100, 1],
  ],
  or: [
    ['Bijay', 'michel', 32, 20_700, 0.95],
    ['Sujata', 'f5', 64, OWN_RATE_HZ, 1.05],
  ],
  pa: [
    ['Gurpreet', 'adam', 32, 20_700, 1],
    ['Simran', 'steph3', 64, 20_250, 0.95],
  ],
  sa: [
    ['Vedant', 'victor', 64, OWN_RATE_HZ, 0.95],
    ['Gayatri', 'aunty', 54, 20_250, 1.05],
  ],
  sat: [
    ['Chandu', 'iven2', 32, 23_400, 1],
    ['Roshni', 'linda', 54, 23_100, 0.95],
  ],
  sd: [
    ['Amjad', 'paul', 64, 23_400, 1],
    ['Kavita', 'f2', 64, OWN_RATE_HZ, 0.95],
  ],
  ta: [
    ['Murugan', 'michel', 32, OWN_RATE_HZ, 1],
    ['Thangam', 'steph', 64, 24_300, 0.95],
  ],
  te: [
    ['Vishnu', 'Mario', 64, 20_700, 1.05],
    ['Lakshmi', 'f2', 46, 20_250, 1],
  ],
  ur: [
    ['Salman', 'john', 32, 23_400, 1.05],
    ['Fatima', 'steph', 46, 24_300, 1],
  ],
};

export const voices: readonly EngineVoice[] = Object.entries(pairs).flatMap(([language, [man, woman]]) => [
  { name: man[0], gender: 'male', language } as const,
  { name: woman[0], gender: 'female', language } as const,
]);

export const defaultVoice = 'Rajesh';

const byName = new Map(voices.map((voice) => [voice.name.toLowerCase(), voice]));

/** Finds a voice by name, case ignored. */
export function findVoice(name: string): EngineVoice | undefined {
  return byName.get(name.trim().toLowerCase());
}

const soundsByName = new Map<string, VoiceSound>(
  Object.values(pairs)
    .flat()
    .map(([name, variant, pitch, rateHz, pace]) => [name, { variant, pitch, rateHz, pace }]),
);

/** The sound of a voice. @throws RangeError for a name not in `voices` */
export function voiceSound(name: string): VoiceSound {
  const sound = soundsByName.get(name);
  if (sound === undefined) throw new RangeError(`unknown voice ${name}`);
  return sound;
}
