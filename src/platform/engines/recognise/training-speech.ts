import { decodeMulaw, encodeMulaw } from '../../../audio/g711.ts';
import { activeLevelDb, amplify } from '../../../audio/level.ts';
import { resample } from '../../../audio/resample.ts';
import { features, frameEnergies, normaliserOf, peakEnergy } from './features.ts';
import { BANDS, MelBank, melFrames, RATE_HZ } from '../acoustics/mel.ts';
import type { TrainingUtterance } from './train.ts';
import { type WordNetwork, shownWord } from './grammar.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { silentLogger } from '../../../observability/logger.ts';
import { EngineProcess } from '../synth/engine-process.ts';

/** Vocal tract lengths, short to long. */
const averageBank = new MelBank(1);
const banks: readonly [MelBank, ...MelBank[]] = [
  new MelBank(0.86),
  new MelBank(0.9),
  new MelBank(0.94),
  new MelBank(0.97),
  averageBank,
  new MelBank(1.03),
  new MelBank(1.07),
  new MelBank(1.12),
  new MelBank(1.17),
];
/** Signal to noise ratios of the noisy variants, in dB. */
const NOISES_DB: readonly [number, ...number[]] = [26, 22, 20, 18, 15];
const LEVEL_DB = -20;
const LEAD_S = 0.25;
const TAIL_S = 0.35;
const SOUND_BELOW_PEAK = 1e-3;

/** White noise of nearly normal distribution (a sum of six). */
function noiseSample(random: () => number): number {
  let sum = -3;
  for (let i = 0; i < 6; i += 1) sum += random();
  return sum * Math.SQRT2;
}

/** A training utterance from one rendered line: clean, with noisy variants and other vocal tract lengths. */
function trainingUtterance(pcm: Int16Array, rateHz: number, words: readonly number[], random: () => number): TrainingUtterance {
  const narrow = resample(pcm, rateHz, RATE_HZ);
  const level = amplify(narrow, LEVEL_DB - activeLevelDb(narrow, RATE_HZ));
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item => items[Math.floor(random() * items.length)] ?? items[0];
  const clean = melFrames(throughTelephone(level, undefined, random), [averageBank, pick(banks), pick(banks)]);
  const noisy = [pick(NOISES_DB), pick(NOISES_DB)].flatMap((db) => melFrames(throughTelephone(level, db, random), [pick(banks)]));
  const [first = new Float32Array(0), ...others] = [...clean, ...noisy];
  const featuresOf = (mel: Float32Array): Float32Array => features(mel, normaliserOf(mel));
  return { frames: featuresOf(first), twins: others.map(featuresOf), words, active: activePart(first) };
}

/** Adds silence at both ends, noise, and a pass through mu-law. */
export function throughTelephone(pcm: Int16Array, snrDb: number | undefined, random: () => number): Int16Array {
  const lead = Math.round(LEAD_S * RATE_HZ);
  const out = new Int16Array(lead + pcm.length + Math.round(TAIL_S * RATE_HZ));
  out.set(pcm, lead);
  if (snrDb !== undefined) {
    const deviation = 32_768 * 10 ** ((LEVEL_DB - snrDb) / 20);
    for (const [index, sample] of out.entries()) {
      out[index] = Math.max(-32_768, Math.min(32_767, sample + noiseSample(random) * deviation));
    }
  }
  return decodeMulaw(encodeMulaw(out));
}

function activePart(mel: Float32Array): { from: number; to: number } {
  const energies = frameEnergies(mel);
  const least = peakEnergy(mel) * BANDS * SOUND_BELOW_PEAK;
  let [from, to] = [0, energies.length];
  while (from < to && (energies[from] ?? 0) < least) from += 1;
  while (to > from && (energies[to - 1] ?? 0) < least) to -= 1;
  return { from, to };
}

/**
 * A synthetic speaker to train on. Never flite `awb` nor espeak `hi+Annie`: those are the voices of the demo's caller and of the
 * benchmark.
 */
interface TrainingVoice {
  readonly engine: 'espeak' | 'flite';
  readonly voice: string;
  readonly speed: number;
  readonly pitch: number;
  /** Also says every word alone, for the first alignment. */
  readonly alone: boolean;
}

function speaker(engine: 'espeak' | 'flite', voice: string, speed = 1, pitch = 50, alone = false): TrainingVoice {
  return { engine, voice, speed, pitch, alone };
}

/** Enough for a phrase that somebody waits for. */
const englishForPhrases: readonly TrainingVoice[] = [
  speaker('flite', 'slt', 1, 50, true),
  speaker('flite', 'rms', 1, 50, true),
  speaker('flite', 'kal16'),
  speaker('flite', 'rms', 1.15, 60),
  speaker('flite', 'slt', 0.85, 60),
  speaker('espeak', 'en-us+m3', 1, 50, true),
  speaker('espeak', 'en-us+f2', 0.9),
  speaker('espeak', 'en-gb-x-rp+m1', 1.1, 40),
  speaker('espeak', 'en-gb-x-gbclan+f4'),
  // Women's voices of the platform that no speaker above is like.
  speaker('espeak', 'en-us+f4', 1, 58),
  speaker('espeak', 'en-us+f1', 1, 55),
  speaker('espeak', 'en-us+f3'),
];

const english: readonly TrainingVoice[] = [
  ...englishForPhrases,
  speaker('flite', 'slt', 1.15),
  speaker('flite', 'kal16', 0.9),
  speaker('espeak', 'en-us', 1, 60),
];

/** espeak has one voice a language; its variant, pace and pitch vary. */
function espeakOnly(language: string): readonly TrainingVoice[] {
  return [
    speaker('espeak', language, 1, 50, true),
    speaker('espeak', `${language}+m3`, 0.9, 50, true),
    speaker('espeak', `${language}+f2`, 1, 60, true),
    speaker('espeak', `${language}+f4`, 1.15),
    speaker('espeak', `${language}+m1`, 1.1, 40),
    speaker('espeak', `${language}+klatt`),
    speaker('espeak', `${language}+f3`, 0.85),
    speaker('espeak', `${language}+m7`, 1.2),
  ];
}

/** The speakers of a language, for the installed engines. */
export function trainingVoices(language: string, engines: ReadonlySet<'espeak' | 'flite'>): readonly TrainingVoice[] {
  return (language === 'en' ? english : espeakOnly(language)).filter(({ engine }) => engines.has(engine));
}

/** The speakers for single phrases. One of them alone says the words apart, since every rendering takes time. */
export function phraseVoices(language: string, engines: ReadonlySet<'espeak' | 'flite'>): readonly TrainingVoice[] {
  const speakers = language === 'en' ? englishForPhrases : espeakOnly(language);
  const installed = speakers.filter(({ engine }) => engines.has(engine));
  const apart = installed.findLast(({ alone }) => alone);
  return installed.map((voice) => ({ ...voice, alone: voice === apart }));
}

/** A line to be spoken for training. */
interface TrainingLine {
  readonly text: string;
  readonly words: readonly number[];
}

/** Random sentences of one voice: over all voices, enough for every word next to several others. */
const SENTENCES_A_VOICE = 45;

/** The lines of one voice, the same for the same seed. */
export function trainingLines(network: WordNetwork, voice: TrainingVoice, seed: number): TrainingLine[] {
  const random = seededRandom(seed);
  const alone = voice.alone ? network.words.map((word, index) => ({ text: shownWord(word), words: [index] })) : [];
  const sentences = sampleUtterances(network, SENTENCES_A_VOICE, random).map((words) => ({
    text: utteranceText(network, words),
    words,
  }));
  return [...alone, ...sentences];
}

/**
 * Random utterances of a grammar, as word indexes. Words and pairs used least often are preferred, so that words appear about equally
 * often and next to many others.
 */
export function sampleUtterances(network: WordNetwork, count: number, random: () => number): number[][] {
  const wordCounts = new Map<number, number>();
  const pairCounts = new Map<string, number>();
  const bump = <Key>(counts: Map<Key, number>, key: Key): unknown => counts.set(key, (counts.get(key) ?? 0) + 1);
  return Array.from({ length: count }, () => {
    const utterance: number[] = [];
    for (let node = 0; ;) {
      const arcs = network.arcs[node] ?? [];
      const stop = network.final[node] === true && (arcs.length === 0 || random() < 0.25 + utterance.length * 0.08);
      if (stop) return utterance;
      const last = utterance.at(-1) ?? -1;
      const cost = (word: number): number =>
        (wordCounts.get(word) ?? 0) + 3 * (pairCounts.get(`${last} ${word}`) ?? 0) + random() * 2;
      const arc = arcs.map((arc) => ({ arc, cost: cost(arc.word) })).reduce((a, b) => (b.cost < a.cost ? b : a)).arc;
      bump(wordCounts, arc.word);
      bump(pairCounts, `${last} ${arc.word}`);
      utterance.push(arc.word);
      node = arc.to;
    }
  });
}

/** The text of an utterance, as spoken and shown. */
export function utteranceText(network: WordNetwork, utterance: readonly number[]): string {
  return utterance.map((word) => shownWord(network.words[word] ?? '')).join(' ');
}

/** Requests in flight to a synthesizer's process, so that it never idles. */
const AHEAD = 4;

/** The synthesizers to train on, each in a process of its own. */
export type TrainingSynthesizers = ReadonlyMap<'espeak' | 'flite', EngineProcess>;

/** Starts the installed synthesizers of a language; flite speaks English only. */
export async function startTrainingSynthesizers(language: string): Promise<TrainingSynthesizers> {
  const started = await Promise.all(
    (['espeak', 'flite'] as const).map(async (engine) => {
      if (engine === 'flite' && language !== 'en') return [];
      const process = await EngineProcess.start({ engine, clock: systemClock, logger: silentLogger });
      return process === undefined ? [] : [[engine, process] as const];
    }),
  );
  return new Map(started.flat());
}

/**
 * Lets every voice speak its lines; the synthesizers work at the same time.
 * @param linesOf the lines of a voice, by its place in the list
 * @throws SynthesisUnavailableError, SynthesisRefusedError
 */
export async function spokenUtterances(
  synthesizers: TrainingSynthesizers,
  voices: readonly TrainingVoice[],
  linesOf: (voice: TrainingVoice, index: number) => readonly TrainingLine[],
): Promise<TrainingUtterance[]> {
  const byEngine = await Promise.all(
    [...synthesizers].map(async ([engine, process]) => {
      const utterances: TrainingUtterance[] = [];
      const lines = voices.flatMap((voice, index) => {
        if (voice.engine !== engine) return [];
        const random = seededRandom(1_000 + index);
        return linesOf(voice, index).map((line) => ({ ...line, voice, random }));
      });
      const asked = lines.values();
      const render = () => {
        const { value: line, done } = asked.next();
        if (done === true) return [];
        const { voice, speed, pitch } = line.voice;
        const audio = process.render({ text: line.text, voice, speed, pitch });
        audio.catch(() => undefined);
        return [{ ...line, audio }];
      };
      const ahead = Array.from({ length: AHEAD }, render).flat();
      for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
        const { pcm, rateHz } = await next.audio;
        ahead.push(...render());
        utterances.push(trainingUtterance(pcm, rateHz, next.words, next.random));
      }
      return utterances;
    }),
  );
  return byEngine.flat();
}
