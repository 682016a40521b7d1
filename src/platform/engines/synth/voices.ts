import { pairTable } from '../../../kernel/pair-table.ts';
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

/**
 * The 46 voices: a man and a woman for each of the vendor's 23 languages, English included, each with variant, pitch, rate and pace. The
 * names are the vendor's (reference, fact 18). Any voice speaks any language; its own language is used when the text does not tell. The
 * sounds were chosen far apart, among variants that the built-in recogniser understands (test/long/voice-distances.test.ts). Those of
 * English and Hindi are the oldest: caches and learnt vocabularies hold them.
 */
const pairs = pairTable(
  `
  as=Bimal m3 52 20700 0.95, Anjana steph 46 22050 1.05
  bn=Arjun pablo 64 20700 1, Priyanka linda 64 21150 0.95
  brx=Daimalu m8 42 22050 1.05, Hasina aunty 64 20250 1
  doi=Vishal sandro 64 23400 0.95, Neelam f5 54 20250 1.05
  en=Varun m3 42 22050 1, Nisha f2 52 22050 1
  gu=Rakesh victor 32 22050 0.95, Pooja f4 38 23100 1.05
  hi=Rajesh m7 40 22050 1, Sunita f3 50 22050 1
  kn=Kiran Diogo 52 23400 1, Shreya f5 64 20250 0.95
  ks=Farooq iven2 52 22050 0.95, Habba linda 54 22050 1.05
  kok=Mohan michel 64 20700 1.05, Sarita f2 64 24300 1
  mai=Suresh victor 64 23400 1.05, Meera steph3 64 22050 1
  ml=Krishnan m5 64 23400 1.05, Deepa f1 54 21150 1
  mni=Tomba pablo 32 20700 1, Ibemhal f3 38 21150 0.95
  mr=Siddharth pablo 64 22050 0.95, Ananya steph3 46 20250 1.05
  ne=Bikash Mike 32 22050 1.05, Sapana belinda 38 23100 1
  or=Bijay michel 32 20700 0.95, Sujata f5 64 22050 1.05
  pa=Gurpreet adam 32 20700 1, Simran steph3 64 20250 0.95
  sa=Vedant victor 64 22050 0.95, Gayatri aunty 54 20250 1.05
  sat=Chandu iven2 32 23400 1, Roshni linda 54 23100 0.95
  sd=Amjad paul 64 23400 1, Kavita f2 64 22050 0.95
  ta=Murugan michel 32 22050 1, Thangam steph 64 24300 0.95
  te=Vishnu Mario 64 20700 1.05, Lakshmi f2 46 20250 1
  ur=Salman john 32 23400 1.05, Fatima steph 46 24300 1
  `,
  '\n',
);

const table = [...pairs].flatMap(([language, pair]) =>
  pair.split(', ').map((row, index): { readonly voice: EngineVoice; readonly sound: VoiceSound } => {
    const [name = '', variant = '', pitch, rateHz, pace] = row.split(' ');
    return {
      voice: { name, gender: index === 0 ? 'male' : 'female', language },
      sound: { variant, pitch: Number(pitch), rateHz: Number(rateHz), pace: Number(pace) },
    };
  }),
);

export const voices: readonly EngineVoice[] = table.map(({ voice }) => voice);

export const defaultVoice = 'Rajesh';

const byName = new Map(voices.map((voice) => [voice.name.toLowerCase(), voice]));

/** Finds a voice by name, case ignored. */
export function findVoice(name: string): EngineVoice | undefined {
  return byName.get(name.trim().toLowerCase());
}

const soundsByName = new Map(table.map(({ voice, sound }) => [voice.name, sound]));

/** The sound of a voice. @throws RangeError for a name not in `voices` */
export function voiceSound(name: string): VoiceSound {
  const sound = soundsByName.get(name);
  if (sound === undefined) throw new RangeError(`unknown voice ${name}`);
  return sound;
}
