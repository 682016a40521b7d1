import { describe, expect, it, test } from 'vitest';
import { VocabularyError, readGrammar, compileNetwork } from '../../../../src/platform/engines/recognise/grammar.ts';
import { answersOf, type RecognitionResult } from '../../../../src/platform/engines/recognise/port.ts';
import { FEATURES, features, normaliserOf } from '../../../../src/platform/engines/recognise/features.ts';
import { BANDS, HOP, MelBank, melFrames } from '../../../../src/platform/engines/acoustics/mel.ts';
import { accepts, addPhrases } from '../../../../src/platform/engines/recognise/add-phrases.ts';
import { type AcousticModel, decodeModel, encodeModel } from '../../../../src/platform/engines/recognise/acoustic-model.ts';
import { seededRandom } from '../../../../src/audio/tone.ts';
import { Search } from '../../../../src/platform/engines/recognise/search.ts';
import { Session } from '../../../../src/platform/engines/recognise/session.ts';
import type { SessionEvent } from '../../../../src/platform/engines/recognise/worker-protocol.ts';
import { canBeSpeech, isVoiced } from '../../../../src/platform/engines/recognise/speech-detection.ts';
import { type TrainingUtterance, trainModel } from '../../../../src/platform/engines/recognise/train.ts';
import type { RecognitionModel } from '../../../../src/platform/engines/recognise/decode.ts';

function tone(hz: number, samples: number, amplitude = 6_000): Int16Array {
  return Int16Array.from({ length: samples }, (_, n) => amplitude * Math.sin((2 * Math.PI * hz * n) / 8_000));
}

/** Invented words: each is three buzzes with peaks at its own frequencies, never two alike. */
const sounds: Record<string, number[]> = {
  red: [400, 900, 1_600],
  green: [1_600, 500, 2_600],
  blue: [2_400, 1_200, 600],
  // In no grammar.
  gold: [1_200, 1_900, 300],
  mumble: [3_000, 3_300, 2_900],
};
const random = seededRandom(4);

function buzz(peak: number, samples: number, pitch: number): number[] {
  const harmonics = Array.from({ length: 20 }, (_, index) => (index + 1) * pitch);
  return Array.from({ length: samples }, (_, n) =>
    harmonics.reduce((sum, hz) => sum + Math.exp(-(((hz - peak) / 250) ** 2)) * Math.sin((2 * Math.PI * hz * n) / 8_000), 0),
  );
}

function speak(words: readonly string[], pitch: number, samples: number): Int16Array {
  const quiet = Array.from({ length: 3_200 }, () => 0);
  const sound = words.flatMap((word) => [...sounds[word]!.flatMap((peak) => buzz(peak, samples, pitch)), ...quiet.slice(0, 800)]);
  return Int16Array.from([...quiet, ...sound, ...quiet], (value) => value * 4_000 + (random() - 0.5) * 40);
}

const network = compileNetwork(
  readGrammar(JSON.stringify({ language: 'en', start: 'all', rules: { all: 'red [green]\ngreen\nblue blue' } })),
);

function learn(): RecognitionModel {
  const lines = [['red'], ['green'], ['blue'], ['red', 'green'], ['blue', 'blue']];
  const utterances: TrainingUtterance[] = lines.flatMap((line) =>
    [95, 120, 160].map((pitch) => {
      const mel = melFrames(speak(line, pitch, 900), [new MelBank()])[0]!;
      const frames = features(mel, normaliserOf(mel));
      const from = Math.round(3_200 / HOP);
      return { frames, twins: [], words: line.map((word) => network.words.indexOf(word)), active: { from, to: from + 22 } };
    }),
  );
  return { language: 'en', network, model: trainModel(network.words, utterances) };
}

const model = learn();

describe('features', () => {
  it('do not depend on loudness', () => {
    const loud = speak(['red'], 110, 900);
    const [a, b] = [loud, loud.map((sample) => Math.round(sample / 4))].map((pcm) => {
      const mel = melFrames(pcm, [new MelBank()])[0]!;
      return features(mel, normaliserOf(mel));
    });
    const middle = Math.floor(a!.length / FEATURES / 2) * FEATURES;
    for (let d = 0; d < FEATURES; d += 1) expect(b![middle + d]).toBeCloseTo(a![middle + d]!, 0);
  });

  it('put a tone into the band where it is, and a longer throat lower', () => {
    const loudest = (mel: Float32Array): number => {
      const frame = mel.subarray(10 * BANDS, 11 * BANDS);
      return frame.indexOf(Math.max(...frame));
    };
    const [low, high] = [500, 2_500].map((hz) => loudest(melFrames(tone(hz, 4_000), [new MelBank()])[0]!));
    expect(high! - low!).toBeGreaterThan(6);
    const [plain, warped] = melFrames(tone(2_500, 4_000), [new MelBank(1), new MelBank(1.17)]).map(loudest);
    expect(warped!).toBeLessThan(plain!);
  });
});

describe('a search', () => {
  const found = (words: readonly string[], samples = 800): string => {
    const mel = melFrames(speak(words, 130, samples), [new MelBank()])[0]!;
    const frames = features(mel, normaliserOf(mel));
    const search = new Search(model.model, network);
    for (let frame = 0; frame < frames.length / FEATURES; frame += 1) search.step(frames, frame);
    const best = search.hypotheses(true, 3)[0]!;
    for (const [index, word] of best.words.entries()) {
      expect(word.endFrame).toBeGreaterThan(word.startFrame);
      if (index > 0) expect(word.startFrame).toBeGreaterThanOrEqual(best.words[index - 1]!.endFrame);
    }
    return best.words.map(({ word }) => network.words[word]).join(' ');
  };

  test.each([[['red']], [['green']], [['red', 'green']], [['blue', 'blue']]])('it finds %j at a new pitch and pace', (words) => {
    expect(found(words)).toBe(words.join(' '));
  });

  it('finds nothing but what the grammar allows', () => {
    expect(['red', 'red green', 'green', 'blue blue']).toContain(found(['green', 'red']));
  });
});

describe('a session', () => {
  /** The model of a phrase outside the vocabulary. */
  const gold = (): AcousticModel => {
    const utterances: TrainingUtterance[] = [95, 120, 160].map((pitch) => {
      const mel = melFrames(speak(['gold'], pitch, 900), [new MelBank()])[0]!;
      const from = Math.round(3_200 / HOP);
      return { frames: features(mel, normaliserOf(mel)), twins: [], words: [0], active: { from, to: from + 22 } };
    });
    return trainModel(['gold'], utterances);
  };

  it('understands the same, however the audio is cut', () => {
    const pcm = speak(['red', 'green'], 130, 850);
    const results = [40, 160, 1_111, pcm.length].map((size) => {
      const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: [] }, () => undefined);
      for (let at = 0; at < pcm.length; at += size) session.push(pcm.slice(at, at + size));
      return session.commit()[0]!;
    });
    expect(results[0]!.text).toBe('red green');
    for (const result of results) expect(result).toEqual(results[0]);
  });

  test.each([0.2, 0.3, 0.5, 0.7, 1])('answers two utterances of one turn one by one, %s s apart', (gapS) => {
    const turns: [string[][], string][] = [
      [[['red'], ['blue', 'blue']], 'red | blue blue'],
      [[['red', 'green'], ['mumble']], 'red green'],
      [[['mumble'], ['green']], 'green'],
    ];
    for (const [said, heard] of turns) {
      const [first, second] = said.map((words) => speak(words, 120, 900).slice(3_200, -4_000));
      const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: [] }, () => undefined);
      for (const pcm of [new Int16Array(2_400), first!, new Int16Array(gapS * 8_000), second!, new Int16Array(2_400)]) {
        session.push(pcm);
      }
      const texts = answersOf(session.commit()).map(({ text }) => text);
      expect(texts.join(' | ')).toBe(heard);
    }
  });

  it('recognises a phrase outside the vocabulary after learning it, alone and beside a sentence, with a score for each word', () => {
    const phrase = gold();
    const heard = (words: readonly string[], extended: boolean): RecognitionResult => {
      const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: ['gold'] }, () => undefined);
      if (extended) session.extend('en', [phrase]);
      session.push(speak(words, 130, 880));
      return session.commit()[0]!;
    };
    for (const words of [['gold'], ['red', 'gold'], ['gold', 'red', 'green'], ['red', 'green']]) {
      expect(heard(words, true).text).toBe(words.join(' '));
      expect(heard(words, false).text === words.join(' ')).toBe(!words.includes('gold'));
    }
    const scores = heard(['gold', 'red', 'green'], true).words.map(({ confidence }) => confidence);
    expect(new Set(scores).size).toBe(3);
    for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
  });

  it('hears what its language is taught from the next utterance on, alone and beside a sentence', () => {
    let models = [model];
    const session = new Session({ models: () => models, rateHz: 8_000, boostPhrases: [] }, () => undefined);
    const heard = (words: readonly string[]): string => {
      session.push(speak(words, 130, 880));
      return session.commit()[0]!.text;
    };
    const before = heard(['gold']);
    models = [addPhrases(model, [gold()])];
    session.push(new Int16Array(8_000));
    for (const words of [['gold'], ['red', 'gold', 'gold'], ['gold', 'red', 'green'], ['red', 'green']]) {
      expect(heard(words)).toBe(words.join(' '));
    }
    expect(before).not.toBe('gold');
  });

  it('knows which sentences its vocabulary has', () => {
    const sentences = [['Red'], ['red', 'green'], ['blue', 'blue'], ['green', 'red'], ['gold'], []];
    expect(sentences.map((words) => accepts(network, words))).toEqual([true, true, true, false, false, false]);
  });

  it('leaves a sentence with a pause in it whole', () => {
    const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: [] }, () => undefined);
    for (const words of [['blue'], ['blue']]) session.push(speak(words, 120, 900));
    expect(session.commit().map(({ text }) => text)).toEqual(['blue blue']);
  });

  it('understands sentences that follow each other without a pause, more of them than an utterance is long', () => {
    const events: SessionEvent[] = [];
    const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: [] }, (event) => events.push(event));
    const said = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? ['blue', 'blue'] : ['red', 'green']));
    const sound = speak(said.flat(), 120, 900);
    expect(sound.length / 8_000).toBeGreaterThan(25);
    session.push(sound);
    const segments = events.flatMap((event) => (event.type === 'segment' ? [event.result] : []));
    expect([...segments, ...session.commit()].map(({ text }) => text)).toEqual(said.map((words) => words.join(' ')));
  });

  it('invents no words for unknown speech beside words it knows, whatever the pause', () => {
    for (const pauseS of [0, 0.2, 0.5]) {
      for (const order of ['known first', 'unknown first']) {
        const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: [] }, () => undefined);
        const parts = [speak(['red', 'green'], 120, 900), new Int16Array(pauseS * 8_000), speak(['mumble', 'gold'], 120, 900)];
        for (const part of order === 'known first' ? parts : parts.toReversed()) session.push(part);
        const texts = session.commit().flatMap(({ text }) => (text === '' ? [] : [text]));
        expect([order, pauseS, texts]).toEqual([order, pauseS, ['red green']]);
      }
    }
  });

  it('ends an utterance after two seconds of silence and gives times on the stream', () => {
    const events: SessionEvent[] = [];
    const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: [] }, (event) => events.push(event));
    for (let turn = 0; turn < 2; turn += 1) {
      session.push(speak(['red', 'green'], 120, 900));
      session.push(new Int16Array(24_000));
    }
    const segments = events.flatMap((event) => (event.type === 'segment' ? [event.result] : []));
    expect(segments.map(({ text }) => text)).toEqual(['red green', 'red green']);
    expect(segments[1]!.startS - segments[0]!.startS).toBeCloseTo((speak(['red', 'green'], 120, 900).length + 24_000) / 8_000, 1);
    expect(session.commit()[0]!.text).toBe('');
  });

  it('cuts endless sound, so that nothing grows without end', () => {
    const session = new Session({ models: () => [model], rateHz: 8_000, boostPhrases: [] }, () => undefined);
    const endless = Int16Array.from({ length: 8_000 }, () => (random() - 0.5) * 12_000);
    for (let second = 0; second < 60; second += 1) session.push(endless);
    expect(session.commit()[0]!.text).toBe('');
  });
});

describe('what can be speech', () => {
  it('is voiced like a voice, not like noise', () => {
    const pcm = speak(['red'], 120, 900);
    expect(isVoiced(pcm, 3_400)).toBe(true);
    const noise = Int16Array.from({ length: 400 }, () => (random() - 0.5) * 10_000);
    expect(isVoiced(noise, 0)).toBe(false);
  });

  it('has vowels and is not steady', () => {
    const mel = melFrames(speak(['red'], 120, 900), [new MelBank()])[0]!;
    const frames = mel.length / BANDS;
    expect(canBeSpeech(mel, new Uint8Array(frames).fill(1))).toBe(true);
    expect(canBeSpeech(mel, new Uint8Array(frames))).toBe(false);
    const steady = melFrames(tone(425, 8_000), [new MelBank()])[0]!;
    expect(canBeSpeech(steady, new Uint8Array(steady.length / BANDS).fill(1))).toBe(false);
  });
});

it('a model file comes back as it was, and a damaged one is refused', () => {
  const bytes = encodeModel(model.model);
  expect(decodeModel(bytes, FEATURES)).toEqual(model.model);
  expect(() => decodeModel(bytes.subarray(0, bytes.length - 4), FEATURES)).toThrow(RangeError);
  expect(() => decodeModel(Uint8Array.of(1, 2, 3), FEATURES)).toThrow(RangeError);
  expect(() => decodeModel(new Uint8Array(64), FEATURES)).toThrow(RangeError);
});

it('a vocabulary with unknown keys is refused', () => {
  const yaml = JSON.stringify({ language: 'en', start: 'all', rules: { all: 'one' }, extra: 1 });
  expect(() => readGrammar(yaml)).toThrow(VocabularyError);
});
