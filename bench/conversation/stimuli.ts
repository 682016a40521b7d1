import { activeLevelDb, amplify } from '../../src/audio/level.ts';
import { joinSamples } from '../../src/audio/samples.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { CallerVoice, trim } from '../../src/sim/caller/voice.ts';
import { fromFirstSound, readClips } from '../recordings.ts';
import type { SpokenWord } from './bot-voice.ts';
import { atLevel, hump, voicedSound } from './speech-sound.ts';
import { WATERMARK_CODES } from './watermark.ts';

export type StimulusKind = 'speech' | 'human' | 'backchannel' | 'cough' | 'click' | 'knock' | 'breath';

/** A sound of a caller, 8 kHz; its first sample is its first sound. */
export interface Stimulus {
  /** Its place in the list, which is also the number of its watermark. */
  readonly id: number;
  readonly kind: StimulusKind;
  readonly pcm: Int16Array;
  /** What a recogniser hears in it, if anything. */
  readonly words: readonly SpokenWord[];
}

const RATE_HZ = 8000;
/** Active level of speech on the line; coughs and knocks vary around it. */
export const SPEECH_LEVEL_DB = -22;
/** Longer clips are cut: an interruption is decided long before. */
const LONGEST_MS = 1_600;
const SENTENCE_VOICES = ['awb', 'slt', 'rms', 'kal16'];
const INTERRUPTIONS = `
  wait a moment please; no that is not what I meant; excuse me I have a question; can I speak to a person; hold on;
  I already know that; what about next Monday; sorry I did not understand that; stop please; how much does that cost;
  my number is different now; let me ask you something else; no no; actually I wanted to ask about the price;
  yes I know where that is; hello; that is wrong; could you repeat that; I need to talk to someone; what do you mean;
  okay but when; tomorrow would be better; not on Friday; the other one; never mind; go back please;
  but I have paid for it; how long does it take; is that free of charge; I want to cancel it`
  .split(';')
  .map((text) => text.trim());
/** What the scripted caller says in turn, and to choose how the bot talks. */
const REQUESTS = ['short answers please', 'talk for a minute please', 'when can I come then', 'is there a bus that goes there'];

/**
 * All sounds of one seed: synthesized speech in several voices and speeds, and what is no speech. The same seed gives the same sounds.
 * @param humanFolder clips of people, used when it exists
 */
export async function makeStimuli(seed: number, variants: number, humanFolder: string): Promise<readonly Stimulus[]> {
  const random = seededRandom(seed);
  const made: Omit<Stimulus, 'id'>[] = [];
  await using voice = new CallerVoice();
  for (const text of [...REQUESTS, ...INTERRUPTIONS]) {
    for (const name of SENTENCE_VOICES) {
      const pcm = await voice.say(text, { language: 'en', voice: name, rate: 0.9 + 0.3 * random() });
      made.push(speech('speech', shortened(atSpeechLevel(pcm)), text));
    }
  }
  made.push(...humanClips(humanFolder));
  for (let variant = 0; variant < variants; variant += 1) {
    const next = Math.floor(random() * 2 ** 31);
    made.push(backchannel(next), plain('cough', coughSound(next)), plain('click', clickSound(next)));
    made.push(plain('knock', knockSound(next)), plain('breath', breathSound(next)));
  }
  return made.map((stimulus, id) => ({ ...stimulus, id, pcm: longEnough(stimulus.pcm) }));
}

/** What the caller says to get this manner of answers, or anything else of `REQUESTS`. */
export function requestsOf(stimuli: readonly Stimulus[], place: number): readonly Stimulus[] {
  return stimuli.slice(place * SENTENCE_VOICES.length, (place + 1) * SENTENCE_VOICES.length);
}

/** Speech with which a caller interrupts. */
export function interruptionsOf(stimuli: readonly Stimulus[]): readonly Stimulus[] {
  return stimuli.filter(({ kind }) => kind === 'speech').slice(REQUESTS.length * SENTENCE_VOICES.length);
}

/** Telephone noise: loud at the low end, as lines and rooms are. @param levelDb RMS */
export function lineNoise(levelDb: number, seed: number, seconds = 7): Int16Array {
  const random = seededRandom(seed);
  const sound = new Float64Array(RATE_HZ * seconds);
  let [slow, middle] = [0, 0];
  for (let index = 0; index < sound.length; index += 1) {
    const white = random() * 2 - 1;
    slow += 0.03 * (white - slow);
    middle += 0.25 * (white - middle);
    sound[index] = 3 * slow + middle + 0.25 * white;
  }
  const power = sound.reduce((sum, sample) => sum + sample * sample, 0) / sound.length;
  const gain = (32_768 * 10 ** (levelDb / 20)) / Math.sqrt(power);
  return Int16Array.from(sound, (sample) => Math.round(sample * gain));
}

function plain(kind: StimulusKind, pcm: Int16Array): Omit<Stimulus, 'id'> {
  return { kind, pcm: trim(pcm), words: [] };
}

/** Word times by the letters of the words, which is all that a truth of this use needs. */
function speech(kind: StimulusKind, pcm: Int16Array, text: string): Omit<Stimulus, 'id'> {
  const durationMs = pcm.length / 8;
  const words = text.split(/\s+/u).filter(Boolean);
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  let at = 0;
  return {
    kind,
    pcm,
    words: words.map((word) => {
      const fromMs = (at / letters) * durationMs;
      at += word.length + 1;
      return { word, fromMs, toMs: (at / letters) * durationMs };
    }),
  };
}

/** What is more than 20 dB below the speech is not heard on a line of 20 dB. */
function atSpeechLevel(pcm: Int16Array): Int16Array {
  return fromFirstSound(trim(amplify(pcm, SPEECH_LEVEL_DB - activeLevelDb(pcm, RATE_HZ))), SPEECH_LEVEL_DB - 20, 5);
}

/** Cut to its first part, with an end that does not click. */
function shortened(pcm: Int16Array): Int16Array {
  const length = Math.min(pcm.length, (LONGEST_MS * RATE_HZ) / 1000);
  if (length === pcm.length) return pcm;
  return pcm.slice(0, length).map((sample, index) => sample * Math.min(1, (length - index) / 400));
}

/** A mark must fit in. */
function longEnough(pcm: Int16Array): Int16Array {
  return pcm.length >= WATERMARK_CODES ? pcm : joinSamples([pcm, new Int16Array(WATERMARK_CODES - pcm.length)]);
}

/** "Mm-hm": two hummed syllables, the second one higher, through a closed mouth. */
function backchannel(seed: number): Omit<Stimulus, 'id'> {
  const random = seededRandom(seed);
  const pitchHz = 100 + 120 * random();
  const first = Math.round(110 + 90 * random());
  const second = Math.round(140 + 140 * random());
  const gap = Math.round(20 + 50 * random());
  const hum = { levelDb: SPEECH_LEVEL_DB - 4 + 4 * random(), breath: 0.1, seed };
  const syllable = (durationMs: number, hz: number): Int16Array =>
    muffled(voicedSound({ ...hum, durationMs, pitchHz: hz }, hump(0.3, 0.4)), hum.levelDb);
  const pcm = trim(
    joinSamples([syllable(first, pitchHz), new Int16Array(gap * 8), syllable(second, pitchHz * (1.1 + 0.2 * random()))]),
  );
  return { kind: 'backchannel', pcm, words: [{ word: 'mm-hm', fromMs: 0, toMs: pcm.length / 8 }] };
}

function muffled(pcm: Int16Array, levelDb: number): Int16Array {
  let [one, two] = [0, 0];
  const sound = Float64Array.from(pcm, (sample) => {
    one += 0.3 * (sample - one);
    two += 0.3 * (one - two);
    return two;
  });
  return atLevel(sound, levelDb);
}

/** A burst and a breathy tail, once or twice; two of five let the voice be heard in it. */
function coughSound(seed: number): Int16Array {
  const random = seededRandom(seed);
  const levelDb = SPEECH_LEVEL_DB - 3 + 8 * random();
  const once = (): Int16Array => {
    const length = Math.round((180 + 220 * random()) * 8);
    const attack = (4 + 10 * random()) * 8;
    const fall = 2.5 + 2 * random();
    let [low, lower] = [0, 0];
    const sound = Float64Array.from({ length }, (_, index) => {
      const white = random() * 2 - 1;
      low += 0.55 * (white - low);
      lower += 0.12 * (low - lower);
      return (low - 0.6 * lower) * Math.min(1, index / attack) * Math.exp((-fall * index) / length);
    });
    const burst = atLevel(sound, levelDb);
    if (random() >= 0.4) return burst;
    const shape = { durationMs: 50 + 60 * random(), pitchHz: 180 + 160 * random(), levelDb: levelDb - 4, breath: 0.6, seed };
    const voiced = voicedSound(shape, hump(0.2, 0.6));
    return burst.map((sample, index) => sample + (voiced[index - 240] ?? 0));
  };
  const parts = [once()];
  if (random() < 0.35) parts.push(new Int16Array(Math.round((60 + 120 * random()) * 8)), once());
  return joinSamples(parts);
}

function clickSound(seed: number): Int16Array {
  const random = seededRandom(seed);
  const decay = 6 + 25 * random();
  const sound = Float64Array.from(
    { length: 80 + Math.round(80 * random()) },
    (_, index) => (random() * 2 - 1) * Math.exp(-index / decay),
  );
  return atLevel(sound, -30 + 14 * random());
}

/** The handset is put down, or a knuckle meets the table: a damped low ring, one to three times. */
function knockSound(seed: number): Int16Array {
  const random = seededRandom(seed);
  const hz = 150 + 250 * random();
  const decay = (5 + 11 * random()) * 8;
  const levelDb = -24 + 8 * random();
  const parts: Int16Array[] = [];
  for (let count = 1 + Math.floor(3 * random()); count > 0; count -= 1) {
    const sound = Float64Array.from({ length: Math.round(5 * decay) }, (_, index) => {
      const ring = Math.sin((2 * Math.PI * hz * index) / RATE_HZ) + 0.4 * (random() * 2 - 1) * Math.exp(-index / 20);
      return ring * Math.min(1, index / 8) * Math.exp(-index / decay);
    });
    parts.push(atLevel(sound, levelDb), new Int16Array(Math.round((90 + 80 * random()) * 8)));
  }
  return joinSamples(parts);
}

/** Breath into the microphone: noise that swells and fades. */
function breathSound(seed: number): Int16Array {
  const random = seededRandom(seed);
  let [low, lower] = [0, 0];
  const swell = hump(0.35 + 0.2 * random(), 0.4);
  const length = Math.round((350 + 550 * random()) * 8);
  const sound = Float64Array.from({ length }, (_, index) => {
    const white = random() * 2 - 1;
    low += 0.5 * (white - low);
    lower += 0.2 * (low - lower);
    return (low - lower) * swell(index / length);
  });
  return atLevel(sound, -40 + 10 * random());
}

function humanClips(folder: string): Omit<Stimulus, 'id'>[] {
  return readClips(folder, SPEECH_LEVEL_DB).flatMap(({ pcm, text }) => {
    const whole = atSpeechLevel(pcm);
    // A recogniser hears the words that are in what is left.
    const kept = shortened(whole);
    const words = speech('human', whole, text).words.filter(({ toMs }) => toMs <= kept.length / 8);
    return kept.length < 3_200 ? [] : [{ kind: 'human' as const, pcm: kept, words }];
  });
}
