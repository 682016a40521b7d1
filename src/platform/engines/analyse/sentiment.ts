import { wordsOf } from './words.ts';

export type Sentiment = 'positive' | 'negative' | 'neutral';

const lexicon = new Map<string, number>();
function weigh(weight: number, list: string): void {
  for (const word of list.split(/\s+/)) lexicon.set(word.normalize('NFC'), weight);
}
weigh(
  2,
  `amazing awesome excellent fantastic wonderful perfect perfectly brilliant superb delighted love loved outstanding best thrilled शानदार
  बढ़िया बेहतरीन उत्तम लाजवाब`,
);
weigh(
  1,
  `good great nice happy glad pleased helpful thank thanks appreciate appreciated friendly polite quick easy clear correct satisfied enjoy
  enjoyed better fine lovely kind solved resolved fast smooth comfortable improved welcome अच्छा अच्छी अच्छे खुश धन्यवाद शुक्रिया सही
  मददगार संतुष्ट पसंद आसान ख़ुश बेहतर आराम मज़ा`,
);
weigh(
  -1,
  `bad sad slow late delay delayed wrong problem problems issue issues unhappy difficult confused confusing confuse complain complaint
  trouble pain hurt hurts missing lost fail failed fails broken expensive annoying annoyed disappointed disappointing upset worried worry
  sick rude poor error errors refuse sorry waiting stuck tired never cancel बुरा बुरी बुरे गलत ग़लत देर परेशान परेशानी दिक्कत समस्या
  शिकायत दुखी नाराज नाराज़ महंगा खराब ख़राब दर्द बीमार मुश्किल चिंता`,
);
weigh(
  -2,
  `terrible horrible awful worst hate hated unacceptable useless disgusting furious angry ridiculous pathetic nightmare fraud cheat cheated
  scam disaster बेकार घटिया बकवास धोखा गुस्सा नफरत नफ़रत वाहियात`,
);
lexicon.delete('never');

const negations = new Set(
  `not no never don't doesn't didn't can't couldn't won't isn't aren't wasn't weren't hardly without`.split(' '),
);
/** Hindi puts the negation after the adjective. */
const laterNegations = new Set(['नहीं', 'ना', 'मत', 'नही']);
const strengtheners = new Set(`very really so extremely totally absolutely too बहुत बेहद काफी काफ़ी इतना इतनी बड़ा`.split(' '));
/** Words on either side that a negation affects. */
const REACH = 3;
/** The sum of weights from which text is not neutral. */
const LEAST = 1;

/** The sentiment of a transcript, by a list of weighted words with negation and strengthening. */
export function sentimentOf(utterances: readonly string[]): Sentiment {
  let sum = 0;
  for (const utterance of utterances) {
    const words = wordsOf(utterance);
    for (const [index, word] of words.entries()) {
      const weight = lexicon.get(word) ?? 0;
      if (weight === 0) continue;
      const before = words.slice(Math.max(0, index - REACH), index);
      const after = words.slice(index + 1, index + 1 + REACH);
      const negated = before.some((other) => negations.has(other)) || after.some((other) => laterNegations.has(other));
      const strong = before.slice(-2).some((other) => strengtheners.has(other));
      sum += weight * (strong ? 1.5 : 1) * (negated ? -0.7 : 1);
    }
  }
  if (sum >= LEAST) return 'positive';
  return sum <= -0.7 * LEAST ? 'negative' : 'neutral';
}
