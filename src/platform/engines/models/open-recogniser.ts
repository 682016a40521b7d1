import { readFileSync } from 'node:fs';
import type { Clock } from '../../../kernel/clock.ts';
import type { RecognitionModel } from '../../../speech/models/model.ts';
import { SegmentModel, type SegmentModelOptions } from './segment-model.ts';
import { construct, onProcessor, type Sherpa } from './sherpa.ts';
import { StreamingModel } from './streaming-model.ts';

export type OpenedRecogniser = StreamingModel | SegmentModel;

const features = { sampleRate: 16_000, featureDim: 80 };
const SEARCH_PATHS = 4;
/** Added to the likelihood of each token of a hint; the library's default is 1.5. */
const HINT_SCORE = 2;
/**
 * The library gives the decoder a mask that is too short, so that from 9.2 s on (384 frames of the encoder) it fails, and the library answers
 * with no text (seen with version 1.13.8); shortly before that, it repeats its last sentence.
 */
const MOONSHINE_V2_LONGEST_S = 8;
/** Frames of 10 ms that Whisper is given after a segment, as the library advises for models of one language and of many. */
const WHISPER_TAIL = { oneLanguage: 50, manyLanguages: 300 };

/**
 * Opens a recognition model and decodes a little silence with it. The library ends its process for some files that are no models.
 * @param used languages it is used for
 * @throws ModelOpenError with the library's message
 */
export function openRecogniser(sherpa: Sherpa, model: RecognitionModel, used: readonly string[], clock: Clock): OpenedRecogniser {
  switch (model.kind) {
    case 'streaming-transducer': {
      const { encoder, decoder, joiner, tokens } = model.files;
      return streaming(sherpa, model, clock, { transducer: { encoder, decoder, joiner }, tokens });
    }
    case 'streaming-ctc':
      return streamingCtc(sherpa, model, clock);
    case 'offline-transducer':
      return offlineTransducer(sherpa, model, clock);
    case 'offline-ctc': {
      const { model: file, tokens } = model.files;
      return segments(sherpa, model, clock, { [OFFLINE_CTC[model.family]]: { model: file }, tokens });
    }
    case 'whisper':
      return whisper(sherpa, model, used, clock);
    case 'moonshine': {
      const { tokens, ...moonshine } = model.files;
      return segments(sherpa, model, clock, { moonshine, tokens });
    }
    case 'moonshine-v2': {
      const { tokens, ...moonshine } = model.files;
      const options = { longestS: MOONSHINE_V2_LONGEST_S };
      return segments(sherpa, model, clock, { moonshine, tokens }, undefined, options);
    }
    case 'sense-voice': {
      const { model: file, tokens } = model.files;
      // Numbers are spelled out, as by the other recognisers.
      const senseVoice = { model: file, language: onlyLanguage(used) ?? '', useInverseTextNormalization: 0 };
      return segments(sherpa, model, clock, { senseVoice, tokens });
    }
  }
}

type OfKind<Kind extends RecognitionModel['kind']> = Extract<RecognitionModel, { kind: Kind }>;

const OFFLINE_CTC = { nemo: 'nemoCtc', zipformer: 'zipformerCtc', wenet: 'wenetCtc', omnilingual: 'omnilingual' } as const;
const STREAMING_CTC = { zipformer2: 'zipformer2Ctc', nemo: 'nemoCtc', 't-one': 'toneCtc' } as const;

function streaming(
  sherpa: Sherpa,
  model: RecognitionModel,
  clock: Clock,
  modelConfig: object,
  sampleRate = features.sampleRate,
): StreamingModel {
  // The library takes hints of one stream for segments alone: those of streams are compared with what was heard (hints.ts).
  const config = {
    featConfig: { ...features, sampleRate },
    modelConfig: { ...modelConfig, ...onProcessor },
    decodingMethod: 'greedy_search',
    enableEndpoint: 0,
  };
  return new StreamingModel(model, construct(sherpa, 'OnlineRecognizer', model.name, config), sampleRate, clock);
}

function streamingCtc(sherpa: Sherpa, model: OfKind<'streaming-ctc'>, clock: Clock): StreamingModel {
  const { model: file, tokens } = model.files;
  const config = { [STREAMING_CTC[model.family]]: { model: file }, tokens };
  // Made for telephone lines.
  return streaming(sherpa, model, clock, config, model.family === 't-one' ? 8_000 : features.sampleRate);
}

function segments(
  sherpa: Sherpa,
  model: RecognitionModel,
  clock: Clock,
  modelConfig: object,
  more: object = { decodingMethod: 'greedy_search' },
  options: SegmentModelOptions = {},
): SegmentModel {
  const config = { featConfig: features, modelConfig: { ...modelConfig, ...onProcessor }, ...more };
  const recognizer = construct(sherpa, 'OfflineRecognizer', model.name, config);
  return new SegmentModel(model, recognizer, clock, options);
}

function offlineTransducer(sherpa: Sherpa, model: OfKind<'offline-transducer'>, clock: Clock): SegmentModel {
  const { tokens, bpeVocab, ...transducer } = model.files;
  const modelType = model.family === 'nemo' ? 'nemo_transducer' : 'transducer';
  if (bpeVocab === undefined) return segments(sherpa, model, clock, { transducer, tokens, modelType });
  const withHints = { transducer, tokens, modelType, modelingUnit: 'bpe', bpeVocab };
  const search = { decodingMethod: 'modified_beam_search', maxActivePaths: SEARCH_PATHS, hotwordsScore: HINT_SCORE };
  // Hints are written in the letters of the model, which may be capitals alone.
  const hasSmallLetters = /^[^<\s]*[a-z]/mu.test(readFileSync(tokens, 'utf8'));
  const asWritten = (hint: string): string => (hasSmallLetters ? hint : hint.toUpperCase());
  return segments(sherpa, model, clock, withHints, search, { asWritten });
}

function whisper(sherpa: Sherpa, model: OfKind<'whisper'>, used: readonly string[], clock: Clock): SegmentModel {
  const { encoder, decoder, tokens } = model.files;
  const tailPaddings = onlyLanguage(model.languages) === 'en' ? WHISPER_TAIL.oneLanguage : WHISPER_TAIL.manyLanguages;
  const configFor = (language: string): object => ({
    featConfig: features,
    modelConfig: { whisper: { encoder, decoder, language, task: 'transcribe', tailPaddings }, tokens, ...onProcessor },
    decodingMethod: 'greedy_search',
  });
  // An empty language is detected. A model of English alone has none to choose.
  const first = onlyLanguage(used) ?? '';
  const recognizer = construct(sherpa, 'OfflineRecognizer', model.name, configFor(first));
  let current = first;
  const chooseLanguage = (asked: string): void => {
    const language = asked === 'auto' ? '' : asked;
    if (language !== current) recognizer.setConfig?.(configFor(language));
    current = language;
  };
  return new SegmentModel(model, recognizer, clock, { chooseLanguage });
}

/** The one language of a list, when it has one. */
function onlyLanguage(languages: readonly string[]): string | undefined {
  const [only, ...more] = languages;
  return only === undefined || only === 'auto' || more.length > 0 ? undefined : only;
}
