import type { Clock } from '../../../kernel/clock.ts';
import type { Analyser } from '../../engines/analyse/port.ts';
import { medicalCorrections } from '../../engines/analyse/medical-terms.ts';
import { VoiceTrack } from '../../engines/speakers/voice-track.ts';
import type { RecognitionEngine, RecognitionResult } from '../../engines/recognise/port.ts';
import { prosodyOf } from '../../engines/speakers/emotion.ts';
import { codeswitch } from '../../engines/script/codeswitch.ts';
import { transliterate } from '../../engines/script/transliterate.ts';
import type { SpeakerProfiles, SpeakerEngine } from '../../engines/speakers/port.ts';
import { SpeechTape } from '../../engines/speakers/speech-tape.ts';
import { hashKeywords, maskPieces, profanity } from './masking.ts';
import type { DecodedAudio } from '../uploads/open-audio.ts';
import { rewriteResult } from './rewrite-words.ts';
import { bySpeaker, milli, segmentEmotion, wireEmotion, wireIdentified, wireSpeakers } from './wire-voices.ts';
import { recognitionRateHz, transcribe } from './transcribe.ts';
import type { TranscriptionRequest } from './transcription-fields.ts';
import { changeTexts, type VerboseTranscription, verboseTranscription, type WireAnalysis } from './transcription-result.ts';
import { heardWarnings, recognitionWarnings } from './language-recognition.ts';

/** The engines behind a transcription. */
export interface TranscriptionEngines {
  readonly recognition: RecognitionEngine;
  readonly analyser: Analyser;
  readonly speakers: SpeakerEngine;
  /** No voices are known when absent. */
  readonly profiles?: SpeakerProfiles | undefined;
}

export interface AnswerOptions {
  readonly engines: TranscriptionEngines;
  readonly clock: Clock;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** The minimal transcription result (ASR doc, resources); segments with emotion=true alone. */
export interface MinimalTranscription {
  readonly text: string;
  readonly segments?: VerboseTranscription['segments'];
}

export interface AnsweredTranscription {
  readonly body: VerboseTranscription | MinimalTranscription;
  /** What was asked for and could not be done; also in the verbose body. */
  readonly warnings: readonly string[];
}

/**
 * Transcribes a recording and runs all features asked for, in the order of their dependencies.
 */
export async function answerTranscription(
  audio: DecodedAudio,
  asked: TranscriptionRequest,
  options: AnswerOptions,
): Promise<AnsweredTranscription> {
  const { engines, clock, requestId, signal } = options;
  const { language, boostPhrases, boostWeight } = asked;
  const { durationSeconds } = audio;
  const startedMs = clock.nowMs();
  const asking = recognitionWarnings(engines.recognition, language, asked);
  // The short answer has emotion as its only feature (ASR doc, parameters response_format and emotion).
  const speakers = asked.verbose ? asked.numSpeakers : undefined;
  const track = speakers !== undefined || asked.emotion ? new VoiceTrack() : undefined;
  const tape = new SpeechTape(speakers === undefined ? 0 : engines.speakers.tapeSeconds);
  const { recognised, unrecognised } = await transcribe(audio, {
    engine: engines.recognition,
    language,
    boostPhrases,
    boostWeight,
    listedPhrases: asked.glossary,
    signal,
    onSpeech:
      track &&
      (({ pcm, startSample }) => {
        track.add(pcm, startSample / recognitionRateHz);
        tape.add(pcm, startSample / recognitionRateHz);
      }),
  });
  const warnings = [...asking, ...heardWarnings(engines.recognition, language, recognised, unrecognised)];
  const results = recognised.map((result) => corrected(result, asked));
  const diarizes = track !== undefined && speakers !== undefined;
  const diarization = diarizes ? await engines.speakers.diarise({ windows: track.windows, tape }, speakers) : undefined;
  const facts = { requestId, language, durationSeconds, inferenceMs: 0 };
  const spoken = diarization && bySpeaker(results, diarization.turns);
  const transcribed = verboseTranscription(results, facts, spoken);
  const body = track !== undefined && asked.emotion ? withEmotion(transcribed, track) : transcribed;
  if (!asked.verbose) {
    const { text, segments } = shown(body, asked);
    return { body: asked.emotion ? { text, segments } : { text }, warnings };
  }
  const profiles = asked.identifySpeakers ? ((await engines.profiles?.list(asked.project)) ?? []) : undefined;
  const answer: VerboseTranscription = {
    ...body,
    ...(unrecognised.length > 0 && {
      unrecognised: unrecognised.map((each) => ({ start: milli(each.startS), end: milli(each.endS) })),
    }),
    ...(diarization && wireSpeakers(diarization, durationSeconds)),
    ...(diarization && profiles && { speakers_identified: wireIdentified(diarization, profiles, engines.speakers) }),
    ...(asked.analysis.size > 0 && { nlp_analysis: await analyse(body, asked, engines.analyser, signal) }),
  };
  const told = warnings.length === 0 ? {} : { warnings };
  return { body: { ...shown(answer, asked), inference_time_ms: Math.round(clock.nowMs() - startedMs), ...told }, warnings };
}

/** Corrects the recogniser's words, before any other step uses them. */
function corrected(result: RecognitionResult, asked: TranscriptionRequest): RecognitionResult {
  const switched = asked.codeswitch ? rewriteResult(result, codeswitch) : result;
  return asked.medical ? rewriteResult(switched, medicalCorrections) : switched;
}

function withEmotion(body: VerboseTranscription, track: VoiceTrack): VerboseTranscription {
  const usual = prosodyOf(track.windows);
  const emotions = body.segments.map((segment) => ({
    segment,
    ...segmentEmotion(track.windows, usual, segment),
    seconds: segment.end - segment.start,
  }));
  const segments = emotions.map(({ segment, label, confidence }) => ({
    ...segment,
    emotion: label,
    emotion_confidence: confidence,
  }));
  return { ...body, segments, ...wireEmotion(emotions) };
}

/** Redacts terms before the analyser sees the transcript, so that it cannot paraphrase them. */
async function analyse(
  body: VerboseTranscription,
  asked: TranscriptionRequest,
  analyser: Analyser,
  signal: AbortSignal,
): Promise<WireAnalysis> {
  const { analysis: parts, intentChoices, summaryMaxWords, glossary } = asked;
  const said = body.segments.map(({ text }) => text);
  const utterances = maskPieces(said, hashKeywords(asked.hashKeywords));
  const language = body.detected_language;
  const request = { utterances, language, parts, intentChoices, summaryMaxWords, glossary };
  const { normalizedText, ...rest } = await analyser.analyse(request, signal);
  return { ...rest, ...(normalizedText === undefined ? {} : { normalized_text: normalizedText }) };
}

/** Masks all texts, transliterates them, and masks them again for terms given in the output script. */
function shown(body: VerboseTranscription, asked: TranscriptionRequest): VerboseTranscription {
  const masks = [
    ...(asked.hashKeywords.length > 0 ? [hashKeywords(asked.hashKeywords)] : []),
    ...(asked.profanity ? [profanity] : []),
  ];
  const hide = (open: VerboseTranscription): VerboseTranscription =>
    masks.reduce((hidden, mask) => changeTexts(hidden, (pieces) => maskPieces(pieces, mask)), open);
  if (asked.script === 'auto') return hide(body);
  return hide(changeTexts(hide(body), (pieces) => pieces.map((piece) => transliterate(piece, asked.script))));
}
