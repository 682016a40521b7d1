import type { SpokenTurn } from '../../engines/diarise/diarise.ts';
import type { RecognisedWord, RecognitionResult } from '../../engines/port.ts';

/** A piece of the transcript that one person said, as far as that is known. */
export interface SpokenSegment extends RecognitionResult {
  /** From 0; undefined when nobody asked. */
  readonly speaker?: number;
}

/**
 * Cuts results where the speaker changes. A word belongs to whoever speaks in its middle, or nearest to it.
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
    // A text that is not its words joined cannot be cut: it goes to whoever said most of it.
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
      startS: index === 0 ? result.startS : words[0]!.startS,
      endS: index === runs.length - 1 ? result.endS : words.at(-1)!.endS,
    }));
  });
}

function speakerAt(turns: readonly SpokenTurn[], timeS: number): number {
  const away = ({ startS, endS }: SpokenTurn): number => Math.max(0, startS - timeS, timeS - endS);
  let nearest = turns[0];
  for (const turn of turns) if (nearest === undefined || away(turn) < away(nearest)) nearest = turn;
  return nearest?.speaker ?? 0;
}
