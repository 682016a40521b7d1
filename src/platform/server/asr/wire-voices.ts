import type { VerboseTranscription } from '../answers.ts';
import type { RecognisedWord, RecognitionResult } from '../../engines/recognise/port.ts';
import { type Emotion, emotionOf, type UsualProsody } from '../../engines/speakers/voice-features.ts';
import {
  identifySpeaker,
  type SpeakerProfile,
  type SpeakerEngine,
  type SpokenTurn,
  type Diarization,
  type VoiceWindow,
} from '../../engines/speakers/port.ts';

/** The documented form: SPEAKER_00, SPEAKER_01 … */
export function speakerLabel(speaker: number): string {
  return `SPEAKER_${String(speaker).padStart(2, '0')}`;
}

/** What diarization adds to a verbose answer. @param durationS no turn ends later */
export function wireSpeakers(
  { turns, embeddings }: Diarization,
  durationS: number,
): Pick<Required<VerboseTranscription>, 'speakers' | 'speaker_turns'> {
  return {
    speakers: embeddings.map((_, speaker) => speakerLabel(speaker)),
    speaker_turns: turns.map(({ startS, endS, speaker }) => ({
      start: Math.min(milli(startS), milli(durationS)),
      end: Math.min(milli(endS), milli(durationS)),
      speaker: speakerLabel(speaker),
    })),
  };
}

export function wireIdentified(
  { embeddings }: Diarization,
  profiles: readonly SpeakerProfile[],
  speakers: SpeakerEngine,
): Required<VerboseTranscription>['speakers_identified'] {
  return embeddings.map((embedding, speaker) => {
    const { name, confidence } = identifySpeaker(embedding, profiles, speakers);
    return { speaker: speakerLabel(speaker), name: name ?? 'unknown', confidence: share(confidence) };
  });
}

interface SegmentEmotion {
  readonly label: Emotion;
  readonly confidence: number;
}

/** The emotion between two times of a recording, relative to its usual prosody. */
export function segmentEmotion(
  windows: readonly VoiceWindow[],
  usual: UsualProsody,
  { start, end }: { readonly start: number; readonly end: number },
): SegmentEmotion {
  const part = windows.filter((window) => window.startS < end && window.endS > start);
  const [best = ['neutral', 0] as const] = [...emotionOf(part, usual)].sort((a, b) => b[1] - a[1]);
  const [label, confidence] = best;
  return { label, confidence: share(confidence) };
}

/** What emotion=true adds to the top level of an answer. @param segments each with its length */
export function wireEmotion(
  segments: readonly (SegmentEmotion & { readonly seconds: number })[],
): Pick<Required<VerboseTranscription>, 'emotion' | 'emotion_summary'> {
  const times = new Map<Emotion, number>();
  for (const { label, seconds } of segments) times.set(label, (times.get(label) ?? 0) + Math.max(0.001, seconds));
  const longest = [...times].sort((a, b) => b[1] - a[1]);
  const ranked: typeof longest = longest.length === 0 ? [['neutral', 1]] : longest;
  const dominant = ranked[0]?.[0] ?? 'neutral';
  const of = (list: readonly SegmentEmotion[]): number =>
    share(list.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, list.length));
  return {
    emotion: { label: dominant, score: of(segments.filter(({ label }) => label === dominant)) },
    emotion_summary: {
      dominant_emotion: dominant,
      emotion_distribution: percentages(ranked),
      avg_confidence: of(segments),
    },
  };
}

/** Rounds to two places; the first one takes the rounding error, so that they add up to 100. */
function percentages(ranked: readonly (readonly [Emotion, number])[]): Partial<Record<Emotion, number>> {
  const total = ranked.reduce((sum, [, seconds]) => sum + seconds, 0);
  const hundredths = ranked.map(([label, seconds]) => [label, Math.round((10_000 * seconds) / total)] as const);
  const rest = 10_000 - hundredths.reduce((sum, [, part]) => sum + part, 0);
  return Object.fromEntries(hundredths.map(([label, part], index) => [label, (part + (index === 0 ? rest : 0)) / 100]));
}

/** Seconds rounded to the millisecond. */
export function milli(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** A confidence between 0 and 1, to three places. */
export function share(confidence: number): number {
  return Math.round(Math.min(1, Math.max(0, confidence)) * 1000) / 1000;
}

/** A piece of the transcript, by one speaker if known. */
export interface SpokenSegment extends RecognitionResult {
  /** From 0; undefined without diarization. */
  readonly speaker?: number;
}

/**
 * Cuts results at changes of speaker. A word belongs to the speaker at its middle, or nearest to it.
 * @param turns in order of time, at least one
 */
export function bySpeaker(results: readonly RecognitionResult[], turns: readonly SpokenTurn[]): SpokenSegment[] {
  return results.flatMap((result) => {
    const runs: { speaker: number; words: RecognisedWord[] }[] = [];
    for (const word of result.words) {
      const speaker = speakerAt(turns, (word.startS + word.endS) / 2);
      const last = runs.at(-1);
      if (last?.speaker === speaker) last.words.push(word);
      else runs.push({ speaker, words: [word] });
    }
    // A text that differs from its joined words cannot be cut: it belongs to the speaker of most words.
    const cuttable = result.words.map(({ word }) => word).join(' ') === result.text;
    if (runs.length < 2 || !cuttable) {
      const middle = speakerAt(turns, (result.startS + result.endS) / 2);
      const most = [...runs].sort((a, b) => b.words.length - a.words.length)[0];
      return [{ ...result, speaker: most?.speaker ?? middle }];
    }
    return runs.map(({ speaker, words }, index) => ({
      ...result,
      speaker,
      words,
      text: words.map(({ word }) => word).join(' '),
      startS: index === 0 ? result.startS : (words[0]?.startS ?? result.startS),
      endS: index === runs.length - 1 ? result.endS : (words.at(-1)?.endS ?? result.endS),
    }));
  });
}

function speakerAt(turns: readonly SpokenTurn[], timeS: number): number {
  const away = ({ startS, endS }: SpokenTurn): number => Math.max(0, startS - timeS, timeS - endS);
  let nearest = turns[0];
  for (const turn of turns) if (nearest === undefined || away(turn) < away(nearest)) nearest = turn;
  return nearest?.speaker ?? 0;
}
