import { tokenise } from '../../language/index.ts';
import { phrasePlaces, spannedTokens } from './spanned-tokens.ts';
import { type Evidence, evidenceIn, type Utterance } from './transcript.ts';

export interface SaidWhere {
  readonly phrases: readonly string[];
  readonly by?: string | undefined;
  /** Only what begins in so much of the beginning, or of the end, in seconds. */
  readonly withinS?: number | undefined;
  readonly lastS?: number | undefined;
}

/**
 * Where any of the phrases was said, in order of time. Compared are whole words as bots compare them: case, punctuation,
 * articles and noises are left aside. A phrase does not run over the end of a segment.
 */
export function findSaid(utterances: readonly Utterance[], where: SaidWhere, totalS: number): Evidence[] {
  const phrases = where.phrases.map(tokenise).filter((phrase) => phrase.length > 0);
  return utterances
    .filter((each) => isInside(each, where, totalS))
    .flatMap((utterance) => {
      const tokens = spannedTokens(utterance.text);
      const words = tokens.map(({ word }) => word);
      return phrases
        .flatMap((phrase) =>
          phrasePlaces(words, phrase).map((place) => ({
            from: tokens[place]!.from,
            to: tokens[place + phrase.length - 1]!.to,
          })),
        )
        .sort((left, right) => left.from - right.from || right.to - left.to)
        .map(({ from, to }) => evidenceIn(utterance, from, to));
    });
}

function isInside({ role, startS }: Utterance, { by, withinS, lastS }: SaidWhere, totalS: number): boolean {
  if (by !== undefined && role !== by) return false;
  if (withinS !== undefined && startS > withinS) return false;
  return lastS === undefined || startS >= totalS - lastS;
}
