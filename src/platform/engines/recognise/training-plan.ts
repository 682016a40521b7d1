import { type WordNetwork, shownWord } from './network.ts';
import { seededRandom } from '../../../audio/tone.ts';

/**
 * A synthetic speaker to train on. Never flite `awb` nor espeak `hi+Annie`: those are the voices of the demo's caller and of the
 * benchmark.
 */
export interface TrainingVoice {
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
export interface TrainingLine {
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
