import type { RecognitionResult } from '../port.ts';
import type { Decoded } from './decoder.ts';

/**
 * The largest gap to the loop of phones, a frame, at which words of pocketsphinx are believed. Chosen on other voices and
 * phrases than it was measured with (bench/recogniser.md).
 */
const BELIEVED_GAP = 4;

/** Whether pocketsphinx is asked: where the built-in recogniser heard what can be speech, and understood nothing. */
export function wantsSecondOpinion(first: RecognitionResult): boolean {
  return first.text === '' && first.confidence > 0;
}

/**
 * What pocketsphinx understood, or the built-in recogniser's result when that is not to be believed.
 * @param startS when the audio began that pocketsphinx heard, in the stream's seconds
 */
export function secondOpinion(first: RecognitionResult, second: Decoded, startS: number): RecognitionResult {
  if (second.words.length === 0 || second.gap > BELIEVED_GAP) return first;
  // One half at the border of belief, as the built-in recogniser counts.
  const confidence = Math.min(1, 1 - second.gap / (2 * BELIEVED_GAP));
  const words = second.words.map((heard) => ({
    word: heard.word,
    startS: startS + heard.startS,
    endS: startS + heard.endS,
    confidence,
  }));
  const text = words.map(({ word }) => word).join(' ');
  return { ...first, text, words, startS: words[0]!.startS, endS: words.at(-1)!.endS, confidence };
}
