import { plainWords } from './transcript.ts';

/** Sounds of listening: they ask for nothing, whatever was said before them. */
const LISTENING = 'mm, mhm, mm hm, mm hmm, hm, hmm, uh huh, aha, हम्म, हूँ, हूं';
/** Words of listening; where a question is open they are its answer. */
const AGREEING =
  'yeah, yes, yep, ok, okay, right, sure, i see, got it, all right, alright, हाँ, हां, जी, जी हाँ, जी हां, हाँ जी, हां जी, अच्छा, ठीक, ठीक है, सही, haan, ji, haan ji, accha, theek hai';

const listening = new Set(LISTENING.split(',').map(plainWords));
const agreeing = new Set(AGREEING.split(',').map(plainWords));
const LONGEST_PHRASE = 3;

/**
 * Whether these words only say "I am listening": all of them are such sounds, or words of agreement while nothing was
 * asked. Said while the bot speaks, they do not want the floor.
 */
export function isBackchannel(text: string, questionOpen: boolean): boolean {
  if (text === '') return false;
  const words = plainWords(text)
    .split(' ')
    .filter((word) => word !== '');
  if (words.length === 0) return false;
  for (let at = 0; at < words.length;) {
    const length = phraseLength(words, at, questionOpen);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

function phraseLength(words: readonly string[], at: number, questionOpen: boolean): number {
  for (let length = Math.min(LONGEST_PHRASE, words.length - at); length > 0; length -= 1) {
    const phrase = words.slice(at, at + length).join(' ');
    if (listening.has(phrase) || (!questionOpen && agreeing.has(phrase))) return length;
  }
  return 0;
}

/** Whether a sentence of the bot's is a question, to which a word of agreement is an answer. */
export function isQuestion(sentence: string): boolean {
  return /[?？؟]["'”’»)\]]*\s*$/u.test(sentence);
}

/** Whether one of the phrases occurs in the text as whole words. @param phrases plain words, as `plainWords` gives them */
export function containsPhrase(text: string, phrases: readonly string[]): boolean {
  const spaced = ` ${plainWords(text)} `;
  return phrases.some((phrase) => phrase !== '' && spaced.includes(` ${phrase} `));
}
