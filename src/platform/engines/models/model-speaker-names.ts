import type { Used, VoiceModel } from '../../../speech/models/model.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';

/** A speaker of a voice model. */
export interface ModelSpeaker {
  /** The name to ask for. */
  readonly name: string;
  /** Place among the used models, and among the speakers of the model. */
  readonly model: number;
  readonly speaker: number;
  /** ISO 639 codes of the languages it is meant for, of those that the model is used for. */
  readonly languages: readonly string[];
  /** Undefined where the model does not say. */
  readonly gender: 'female' | 'male' | undefined;
}

/** Some models have hundreds of speakers, in no particular order. */
const MOST_SPEAKERS = 100;
/** First letters of Kokoro's names; the second one is the gender (`af_bella`: American, female). */
const KOKORO_LANGUAGES: Readonly<Record<string, string>> = {
  a: 'en',
  b: 'en',
  e: 'es',
  f: 'fr',
  h: 'hi',
  i: 'it',
  j: 'ja',
  p: 'pt',
  z: 'zh',
};

/**
 * Names the speakers of voice models: as the model does (Kokoro), with the model's name for a single speaker, and with that and a number
 * for several without names. A name that is taken gets the model's before it.
 * @param taken names in use, in lower case
 */
export async function namedSpeakers(used: readonly Used<VoiceModel>[], taken: ReadonlySet<string>): Promise<ModelSpeaker[]> {
  const speakers: ModelSpeaker[] = [];
  const names = new Set(taken);
  for (const [place, { model, languages }] of used.entries()) {
    const metadata = await readOnnxMetadata(model.kind === 'matcha' ? model.files.acousticModel : model.files.model);
    const count = Math.max(1, Math.trunc(Number(metadata.get('n_speakers') ?? 1)) || 1);
    const given = metadata
      .get('speaker_names')
      ?.split(',')
      .map((name) => name.trim());
    for (let speaker = 0; speaker < Math.min(count, MOST_SPEAKERS); speaker += 1) {
      const own = given?.length === count ? given[speaker] : undefined;
      const plain = own ?? (count === 1 ? model.name : `${model.name}-${speaker}`);
      const name = names.has(plain.toLowerCase()) ? `${model.name}-${plain}` : plain;
      names.add(name.toLowerCase());
      const [, home = '', gender] = (model.kind === 'kokoro' && /^([a-z])([fm])(?:_|$)/u.exec(plain)) || [];
      const language = KOKORO_LANGUAGES[home];
      speakers.push({
        name,
        model: place,
        speaker,
        languages: language !== undefined && languages.includes(language) ? [language] : languages,
        gender: gender === undefined ? undefined : gender === 'f' ? 'female' : 'male',
      });
    }
  }
  return speakers;
}

/** The speaker of a model that stands for a man's or a woman's voice in a language. */
export function speakerFor(
  speakers: readonly ModelSpeaker[],
  model: number,
  language: string,
  gender: 'female' | 'male',
): ModelSpeaker | undefined {
  const all = speakers.filter((each) => each.model === model);
  const home = all.filter((each) => each.languages.includes(language));
  const fitting = home.length === 0 ? all : home;
  // Models that do not name their speakers do not tell their gender: the first one serves for men, the second one for women.
  return fitting.find((each) => each.gender === gender) ?? fitting[(gender === 'male' ? 0 : 1) % Math.max(1, fitting.length)];
}
