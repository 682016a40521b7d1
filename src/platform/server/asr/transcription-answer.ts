import type { RecognitionResult, RecognitionEngine } from '../../engines/recognise/port.ts';
import { prosodyOf } from '../../engines/speakers/voice-features.ts';
import { findLanguage, type LanguageChoice } from '../../languages.ts';
import {
  type SpokenSegment,
  milli,
  share,
  speakerLabel,
  bySpeaker,
  segmentEmotion,
  wireEmotion,
  wireIdentified,
  wireSpeakers,
} from './wire-voices.ts';
import type { MinimalTranscription, VerboseTranscription, WireAnalysis } from '../answers.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Analyser } from '../../engines/analyse/port.ts';
import { medicalCorrections } from '../../engines/analyse/normalise.ts';
import { SpeechTape } from '../../engines/speakers/speech-tape.ts';
import { VoiceTrack } from '../../engines/speakers/voice-track.ts';
import { codeswitch, rewriteResult } from '../../engines/script/codeswitch.ts';
import { transliterate } from '../../engines/script/transliterate.ts';
import type { SpeakerProfiles, SpeakerEngine } from '../../engines/speakers/port.ts';
import { hashKeywords, maskPieces, profanity } from './masking.ts';
import type { DecodedAudio } from '../uploads/open-audio.ts';
import { recognitionRateHz, transcribe } from './transcribe.ts';
import type { TranscriptionRequest } from './transcription-fields.ts';
import { heardWarnings, recognitionWarnings } from './language-recognition.ts';

const maxAlternatives = 5;

interface TranscriptionFacts {
  readonly requestId: string;
  readonly language: LanguageChoice;
  readonly durationSeconds: number;
  readonly inferenceMs: number;
}

function fullText(results: readonly RecognitionResult[]): string {
  return results.map((result) => result.text).join(' ');
}

/**
 * Builds the verbose result. Times are clamped to the recording, sorted, and rounded to milliseconds; confidences are 0 to 1.
 * @param spoken the results cut at changes of speaker, with diarization
 */
function verboseTranscription(
  results: readonly RecognitionResult[],
  facts: TranscriptionFacts,
  spoken: readonly SpokenSegment[] = results,
): VerboseTranscription {
  const language = languageOf(results, facts.language);
  const duration = milli(facts.durationSeconds);
  const span = (startS: number, endS: number): { start: number; end: number } => {
    const start = Math.min(duration, Math.max(0, milli(startS)));
    return { start, end: Math.min(duration, Math.max(start, milli(endS))) };
  };
  const segments = spoken
    .map(({ startS, endS, text, confidence, speaker }) => ({
      ...span(startS, endS),
      text,
      confidence: share(confidence),
      ...(speaker === undefined ? {} : { speaker: speakerLabel(speaker) }),
    }))
    .sort((a, b) => a.start - b.start);
  const words = results
    .flatMap((result) => result.words)
    .map(({ word, startS, endS, confidence }) => ({ word, ...span(startS, endS), confidence: share(confidence) }))
    .sort((a, b) => a.start - b.start);
  return {
    success: true,
    request_id: facts.requestId,
    text: fullText(results),
    detected_language: language.code,
    detected_language_name: language.name,
    segments,
    words,
    nbest: nbestOf(results),
    audio_duration: duration,
    inference_time_ms: Math.round(facts.inferenceMs),
  };
}

/** ISO 639-2 `und`, for the mandatory language field when nothing was recognised. */
const undetermined = { code: 'und', name: 'Undetermined' };

/** The language asked for, or the one of most of the text. */
function languageOf(results: readonly RecognitionResult[], asked: LanguageChoice): { code: string; name: string } {
  if (results.length === 0) return undetermined;
  if (asked.type === 'language') return asked.language;
  const weights = new Map<string, number>();
  for (const { language, text } of results) weights.set(language, (weights.get(language) ?? 0) + text.length);
  const [code] = [...weights].sort((a, b) => b[1] - a[1])[0] ?? [];
  return (code === undefined ? undefined : findLanguage(code)) ?? undetermined;
}

/** The k-th reading joins each segment's k-th alternative, or its best one if it has fewer. */
function nbestOf(results: readonly RecognitionResult[]): { text: string; confidence: number }[] {
  const readings = new Map<string, number>();
  for (let rank = 0; rank < maxAlternatives; rank += 1) {
    const picked = results.map((result) => (rank === 0 ? result : (result.alternatives[rank] ?? result)));
    const text = picked.map((alternative) => alternative.text).join(' ');
    const mean = picked.reduce((sum, alternative) => sum + alternative.confidence, 0) / Math.max(1, picked.length);
    if (!readings.has(text)) readings.set(text, share(mean));
  }
  return [...readings].map(([text, confidence]) => ({ text, confidence }));
}

/** Changes every text of an answer. The pieces of one text are changed together, since a match may cross pieces. */
function changeTexts(body: VerboseTranscription, change: (pieces: readonly string[]) => readonly string[]): VerboseTranscription {
  const one = (text: string): string => change([text]).join('');
  const segments = change(body.segments.map((segment) => segment.text));
  const words = change(body.words.map(({ word }) => word));
  return {
    ...body,
    text: one(body.text),
    segments: body.segments.map((segment, index) => ({ ...segment, text: segments[index] ?? '' })),
    words: body.words.map((word, index) => ({ ...word, word: words[index] ?? '' })),
    nbest: body.nbest.map((reading) => ({ ...reading, text: one(reading.text) })),
    ...(body.nlp_analysis === undefined ? {} : { nlp_analysis: changeAnalysis(body.nlp_analysis, one) }),
  };
}

/** Changes the texts of an analysis; labels are kept. */
function changeAnalysis(analysis: WireAnalysis, change: (text: string) => string): WireAnalysis {
  const { summary, keyterms, normalized_text: normalized } = analysis;
  return {
    ...analysis,
    ...(summary === undefined ? {} : { summary: change(summary) }),
    ...(keyterms === undefined ? {} : { keyterms: [...new Set(keyterms.map(change))] }),
    ...(normalized === undefined ? {} : { normalized_text: change(normalized) }),
  };
}

/** The engines behind a transcription. */
export interface TranscriptionEngines {
  readonly recognition: RecognitionEngine;
  readonly analyser: Analyser;
  readonly speakers: SpeakerEngine;
  /** No voices are known when absent. */
  readonly profiles?: SpeakerProfiles | undefined;
}

interface AnswerOptions {
  readonly engines: TranscriptionEngines;
  readonly clock: Clock;
  readonly requestId: string;
  readonly signal: AbortSignal;
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
