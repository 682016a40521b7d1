import type { TranscribedWord, TranscriptionResult, TranscriptionSegment } from '../../speech/asr/transcription-result.ts';

/** One subtitle: when it is shown, and its lines. */
export interface Cue {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  readonly speaker: string | undefined;
}

/** Two lines of what fits on a screen. */
const LINE_CHARACTERS = 42;
const MOST_CHARACTERS = 2 * LINE_CHARACTERS;
const MOST_SECONDS = 7;

type Transcript = Pick<TranscriptionResult, 'text' | 'segments' | 'words' | 'durationS'>;

/**
 * Cuts a transcript into cues of at most two lines and seven seconds, at words where the platform gave their times, else at
 * spaces with times in proportion. Times never go back, and no word is lost.
 */
export function cuesOf({ text, segments, words, durationS = 0 }: Transcript): Cue[] {
  const whole = { startS: 0, endS: durationS, text, speaker: undefined };
  const spans = segments.length > 0 ? segments : [whole];
  let lastS = 0;
  return spans
    .filter((span) => span.text.trim() !== '')
    .flatMap((span) => cutSpan(span, wordsIn(span, words)))
    .map((cue) => {
      const startS = Math.max(lastS, cue.startS);
      lastS = Math.max(startS, cue.endS);
      return { ...cue, startS, endS: lastS };
    });
}

/** SubRip: numbered cues, times with a comma. */
export function srtOf(cues: readonly Cue[]): string {
  return cues
    .map(
      (cue, index) =>
        `${index + 1}\n${clock(cue.startS, ',')} --> ${clock(cue.endS, ',')}\n${speech(cue, ': ').replaceAll('-->', '→')}\n\n`,
    )
    .join('');
}

/** WebVTT: a speaker is a voice span, and `&`, `<`, `>` are escaped. */
export function vttOf(cues: readonly Cue[]): string {
  const body = cues.map(({ startS, endS, text, speaker }) => {
    const voice = speaker === undefined ? '' : `<v ${escape(speaker)}>`;
    return `${clock(startS, '.')} --> ${clock(endS, '.')}\n${voice}${escape(lines(text))}\n\n`;
  });
  return `WEBVTT\n\n${body.join('')}`;
}

function speech({ speaker, text }: Cue, between: string): string {
  return `${speaker === undefined ? '' : `${speaker}${between}`}${lines(text)}`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The words of a segment, if they are all of it. */
function wordsIn(
  span: Pick<TranscriptionSegment, 'startS' | 'endS' | 'text'>,
  words: readonly TranscribedWord[],
): TranscribedWord[] {
  const inside = words.filter(({ startS, endS }) => (startS + endS) / 2 >= span.startS && (startS + endS) / 2 <= span.endS);
  const told = inside.map(({ word }) => word.trim()).join(' ');
  return told === tokens(span.text).join(' ') ? inside : [];
}

function cutSpan(
  span: Omit<Cue, 'speaker'> & { readonly speaker: string | undefined },
  timed: readonly TranscribedWord[],
): Cue[] {
  const plain = tokens(span.text);
  const letters = plain.join(' ').length;
  let before = 0;
  const words = plain.map((word, index) => {
    const share = (at: number): number => span.startS + ((span.endS - span.startS) * at) / Math.max(1, letters);
    const guessed = { word, startS: share(before), endS: share(before + word.length) };
    before += word.length + 1;
    return timed[index] === undefined ? guessed : { word, startS: timed[index].startS, endS: timed[index].endS };
  });
  const cues: { startS: number; endS: number; text: string; speaker: string | undefined }[] = [];
  for (const { word, startS, endS } of words) {
    const cue = cues.at(-1);
    const fits = cue !== undefined && cue.text.length + 1 + word.length <= MOST_CHARACTERS && endS - cue.startS <= MOST_SECONDS;
    if (fits) {
      cue.text += ` ${word}`;
      cue.endS = endS;
    } else cues.push({ startS, endS, text: word, speaker: span.speaker });
  }
  return cues;
}

function tokens(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

/** In two lines where one is too long, broken at the space nearest to the middle. */
function lines(text: string): string {
  if (text.length <= LINE_CHARACTERS) return text;
  const spaces = [...text.matchAll(/ /gu)].map(({ index }) => index);
  const middle = text.length / 2;
  const [at] = spaces.toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return at === undefined ? text : `${text.slice(0, at)}\n${text.slice(at + 1)}`;
}

/** `hh:mm:ss,mmm` */
function clock(seconds: number, point: ',' | '.'): string {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${point}${String(ms % 1000).padStart(3, '0')}`;
}
