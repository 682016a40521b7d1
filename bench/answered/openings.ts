import { readFileSync } from 'node:fs';
import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import { activeLevelDb, amplify } from '../../src/audio/level.ts';
import { noise, seededRandom, sine } from '../../src/audio/tone.ts';
import { ANSWERED_BY, type AnsweredBy } from '../../src/config/answered-by.ts';
import { transliterate } from '../../src/platform/engines/script/transliterate.ts';
import { CallerVoice, trim } from '../../src/sim/caller/voice.ts';
import { readClips } from '../recordings.ts';

/** What is said in one go, and when. */
export interface Said {
  readonly text: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The answering side of one call, from the answer on: 8 kHz, as the carrier sends it. */
export interface Opening {
  readonly by: AnsweredBy;
  readonly language: SpokenLanguage;
  readonly human: boolean;
  readonly pcm: Int16Array;
  readonly said: readonly Said[];
}

/** Engine, voice and rate. Hindi of flite's English voices is read from Latin letters. */
type Speaker = readonly ['flite' | 'espeak', string, number];

/** Voices that the classifier was not tuned on. */
const SPEAKERS = {
  en: [
    ['flite', 'awb', 1],
    ['flite', 'slt', 1.1],
    ['flite', 'rms', 0.95],
    ['flite', 'awb', 1.15],
    ['flite', 'slt', 0.85],
  ],
  hi: [
    ['espeak', 'hi+Annie', 1.05],
    ['espeak', 'hi+max', 0.95],
    ['espeak', 'hi+Andy', 1.15],
    ['flite', 'rms', 1],
    ['flite', 'slt', 1.05],
  ],
} as const;
type SpokenLanguage = keyof typeof SPEAKERS;

const RATE_HZ = 8_000;
const PER_MS = RATE_HZ / 1000;
/** How much of the line is heard behind the last sound. */
const TAIL_MS = 4_500;
const LEAST_MS = 8_000;
const SPEECH_DB = -20;

/** Everything that answers, each with several voices and lines; the same each time. @param human a folder of recordings */
export async function openings(human: string): Promise<readonly Opening[]> {
  await using voice = new CallerVoice();
  const all: Opening[] = [];
  let seed = 50_000;
  let [language, by]: [SpokenLanguage, AnsweredBy] = ['en', 'person'];
  for (const text of readFileSync(new URL('openings.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')) {
    if (text.startsWith('#')) continue;
    if (text.startsWith('== ')) {
      const [spoken = '', answering = ''] = text.slice(3).split(' ');
      language = spoken === 'hi' ? 'hi' : 'en';
      by = ANSWERED_BY.find((one) => one === answering) ?? 'silence';
      continue;
    }
    for (const who of SPEAKERS[language]) {
      seed += 1;
      all.push(onLine({ by, language, human: false }, await spokenParts(voice, text, language, who), seed));
    }
  }
  return [...all, ...signals(seed), ...recorded(human)];
}

interface Part {
  readonly pcm: Int16Array;
  readonly text: string;
  readonly kind: 'speech' | 'pause' | 'long-pause' | 'beep' | 'music';
}

const NOTHING = new Int16Array();

async function spokenParts(voice: CallerVoice, text: string, language: SpokenLanguage, who: Speaker): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const piece of text.split(/(\|\||\||<beep>|<music>)/u).map((part) => part.trim())) {
    if (piece === '') continue;
    const kind = ({ '|': 'pause', '||': 'long-pause', '<beep>': 'beep', '<music>': 'music' } as const)[piece];
    if (kind !== undefined) parts.push({ pcm: NOTHING, text: '', kind });
    else parts.push({ pcm: await rendered(voice, piece, language, who), text: piece, kind: 'speech' });
  }
  return parts;
}

async function rendered(
  voice: CallerVoice,
  text: string,
  language: SpokenLanguage,
  [engine, name, rate]: Speaker,
): Promise<Int16Array> {
  // The simulated caller's engine is chosen by language: any but English is espeak-ng's.
  const spoken = engine === 'flite' && language === 'hi' ? transliterate(text, 'latin') : text;
  return await voice.say(spoken, { language: engine === 'flite' ? 'en' : 'hi', voice: name, rate });
}

type About = Pick<Opening, 'by' | 'language' | 'human'>;

/** Puts what is said on a line: with its pauses, room, level, noise, lost packets, the click of the answer and the telephone's band. */
function onLine(about: About, parts: readonly Part[], seed: number): Opening {
  const random = seededRandom(seed);
  const between = (least: number, most: number): number => least + (most - least) * random();
  const chunks: { readonly pcm: Int16Array; readonly atMs: number }[] = [];
  const said: Said[] = [];
  let atMs = about.by === 'person' ? between(150, 1_300) : between(100, 1_500);
  for (const { pcm, text, kind } of parts) {
    switch (kind) {
      case 'speech': {
        const lastsMs = pcm.length / PER_MS;
        chunks.push({ pcm, atMs });
        said.push({ text, fromMs: atMs, toMs: atMs + lastsMs });
        atMs += lastsMs + between(120, 260);
        break;
      }
      case 'pause':
        atMs += between(120, 600);
        break;
      case 'long-pause':
        atMs += between(1_200, 2_000);
        break;
      case 'beep': {
        atMs += between(200, 1_200);
        const lastsMs = between(180, 900);
        chunks.push({ pcm: sine(between(420, 1_500), lastsMs, RATE_HZ, between(0.08, 0.4)), atMs });
        atMs += lastsMs;
        break;
      }
      case 'music':
        atMs += between(0, 400);
        chunks.push({ pcm: music(8_000, random), atMs });
        atMs += 8_000;
    }
  }
  const pcm = new Float64Array(Math.ceil(Math.max(LEAST_MS, atMs + TAIL_MS) / 20) * 20 * PER_MS);
  for (const chunk of chunks) add(pcm, chunk.pcm, Math.round(chunk.atMs * PER_MS));
  return { ...about, pcm: throughLine(pcm, random), said };
}

function add(pcm: Float64Array, chunk: Int16Array, at: number): void {
  for (const [index, sample] of chunk.entries()) if (at + index < pcm.length) pcm[at + index] = (pcm[at + index] ?? 0) + sample;
}

/** SNR of the lines in dB; undefined for one that is quiet but for comfort noise. */
const NOISES_DB = [undefined, undefined, 30, 22, 16, 12];

function throughLine(pcm: Float64Array, random: () => number): Int16Array {
  const between = (least: number, most: number): number => least + (most - least) * random();
  const snrDb = NOISES_DB[Math.floor(random() * NOISES_DB.length)];
  const babble = snrDb !== undefined && random() < 0.5;
  const amplitude = snrDb === undefined ? 0.0006 * random() : Math.sqrt(3) * 10 ** ((SPEECH_DB - snrDb) / 20);
  const room = noise(3_000, RATE_HZ, amplitude, random);
  if (random() < 0.5) click(pcm, between(0, 60), random);
  const gain = 10 ** (between(-12, 3) / 20);
  let low = 0;
  const noisy = Float64Array.from(pcm, (sample, index) => {
    // Half of the rooms rumble more than they hiss.
    const hiss = room[index % room.length] ?? 0;
    low += 0.25 * (hiss - low);
    return (sample + (babble ? 2.6 * low : hiss)) * gain;
  });
  const band = telephoneBand(noisy);
  const lossShare = random() < 0.4 ? between(0.005, 0.03) : 0;
  for (let frame = 0; frame + 160 <= band.length; frame += 160) if (random() < lossShare) band.fill(0, frame, frame + 160);
  return decodeMulaw(encodeMulaw(band));
}

/** The knock of a handset, or of an answer switched through. */
function click(pcm: Float64Array, atMs: number, random: () => number): void {
  const lasts = Math.floor((8 + 40 * random()) * PER_MS);
  for (let index = 0; index < lasts; index += 1) {
    const at = Math.round(atMs * PER_MS) + index;
    pcm[at] = (pcm[at] ?? 0) + (random() * 2 - 1) * 6_000 * Math.exp((-4 * index) / lasts);
  }
}

/** 300 to 3,400 Hz, by a first-order pair below and above: what a handset makes of a voice. */
function telephoneBand(pcm: Float64Array): Int16Array {
  const high = Math.exp((-2 * Math.PI * 250) / RATE_HZ);
  let [lastIn, lastOut, smooth] = [0, 0, 0];
  return Int16Array.from(pcm, (sample) => {
    lastOut = high * (lastOut + sample - lastIn);
    lastIn = sample;
    smooth += 0.9 * (lastOut - smooth);
    return Math.max(-32_768, Math.min(32_767, Math.round(smooth)));
  });
}

/** Chords and a tune over them, as queues play: made here, since recorded music is not ours to keep. */
function music(lastsMs: number, random: () => number): Int16Array {
  const pcm = new Float64Array(lastsMs * PER_MS);
  const beatMs = 280 + 300 * random();
  const root = 150 + 120 * random();
  const pluck = random() < 0.5 ? 0.9 : 0.3;
  const note = (hz: number, fromMs: number, forMs: number, amplitude: number): void => {
    const from = Math.round(fromMs * PER_MS);
    const length = Math.min(Math.round(forMs * PER_MS), pcm.length - from);
    for (let index = 0; index < length; index += 1) {
      const t = index / RATE_HZ;
      const envelope = Math.min(1, index / 80) * Math.exp(-pluck * 3 * t);
      const wave = [1, 0.5, 0.33, 0.2].reduce(
        (sum, share, overtone) => sum + share * Math.sin(2 * Math.PI * hz * (overtone + 1) * t),
        0,
      );
      pcm[from + index] = (pcm[from + index] ?? 0) + amplitude * envelope * wave;
    }
  };
  for (let atMs = 0, beat = 0; atMs < lastsMs; atMs += beatMs, beat += 1) {
    const chord = root * 2 ** ([0, 5, 7, 3][Math.floor(beat / 4) % 4]! / 12);
    if (beat % 4 === 0) for (const step of [0, 4, 7]) note(chord * 2 ** (step / 12), atMs, 4 * beatMs, 900);
    note(chord * 2 * 2 ** ([0, 2, 4, 7, 9][Math.floor(random() * 5)]! / 12), atMs, beatMs * 1.2, 1_400);
  }
  const whole = Int16Array.from(pcm, (sample) => Math.max(-32_768, Math.min(32_767, sample)));
  return amplify(whole, SPEECH_DB - 2 - activeLevelDb(whole, RATE_HZ));
}

/** Answers without a word: faxes, and silence. */
function signals(seed: number): readonly Opening[] {
  return Array.from({ length: 6 }, (_, index) => {
    const random = seededRandom(seed + 9_000 + index);
    const fax = new Float64Array(LEAST_MS * PER_MS);
    const atMs = 300 + 900 * random();
    if (index % 2 === 0) add(fax, sine(2_100, 3_000, RATE_HZ, 0.2), Math.round(atMs * PER_MS));
    else for (const at of [0, 3_500]) add(fax, sine(1_100, 500, RATE_HZ, 0.2), Math.round((atMs + at) * PER_MS));
    const about = { language: 'en', human: false, said: [] } as const;
    return [
      { ...about, by: 'fax' as const, pcm: throughLine(fax, random) },
      { ...about, by: 'silence' as const, pcm: throughLine(new Float64Array(LEAST_MS * PER_MS), random) },
    ];
  }).flat();
}

/** Recordings of people: prompts of a menu three at a time, a reader as the greeting of a mailbox, and single words as people who answer. */
function recorded(folder: string): readonly Opening[] {
  const clips = readClips(folder, SPEECH_DB).map((clip) => ({ ...clip, pcm: trim(clip.pcm) }));
  const of = (who: string): readonly Part[] =>
    clips.filter((clip) => clip.who.startsWith(who)).map(({ text, pcm }) => ({ text, pcm, kind: 'speech' }));
  const pause: Part = { pcm: NOTHING, text: '', kind: 'pause' };
  const beep: Part = { pcm: NOTHING, text: '', kind: 'beep' };
  const heard = (by: AnsweredBy, parts: readonly Part[], seed: number): Opening =>
    onLine({ by, language: 'en', human: true }, parts, seed);
  const prompts = of('allison').filter(({ pcm }) => pcm.length > 1_500 * PER_MS);
  const menus = Array.from({ length: Math.floor(prompts.length / 3) }, (_, index) => {
    const three = prompts.slice(3 * index, 3 * index + 3).flatMap((part) => [part, pause]);
    return heard('ivr', three, 90_000 + index);
  });
  const reader = of('librivox').map((part, index, all) =>
    heard('mailbox', [part, pause, all[(index + 1) % all.length]!, beep], 91_000 + index),
  );
  const people = [0, 1, 2, 3].flatMap((round) =>
    of('cards').map((part, index) => heard('person', [part], 92_000 + 10 * round + index)),
  );
  return [...menus, ...reader, ...people];
}
