import { plainWords } from './transcript.ts';

/** Sounds of listening: they ask for nothing, whatever was said before them. */
const LISTENING = 'mm, mhm, mm hm, mm hmm, hm, hmm, uh huh, aha, हम्म, हूँ, हूं';
/** Words of listening; where a question is open they are its answer. */
const AGREEING =
  'yeah, yes, yep, ok, okay, right, sure, i see, got it, all right, alright, हाँ, हां, जी, जी हाँ, जी हां, हाँ जी, हां जी, अच्छा, ठीक, ठीक है, सही, haan, ji, haan ji, accha, theek hai';

/** Words of somebody who was asked to wait, and does. */
const PATIENT =
  'thank you, thanks, please, fine, no problem, no worries, no rush, take your time, i will wait, ill wait, धन्यवाद, शुक्रिया, कोई बात नहीं, dhanyavaad, shukriya, koi baat nahi';
/** Words of somebody who has waited, and wonders whether anybody is there. */
const ASKING =
  'hello, hi, hey, are you there, are you still there, you there, anyone there, anybody there, is anyone there, can you hear me, हैलो, हेलो, हलो, नमस्ते, सुन रहे हैं, helo';

/** What people say while they think of an answer. */
const HESITATING =
  'um, umm, uhm, uh, uhh, er, erm, ah, hm, hmm, hmmm, mmm, well, so, let me see, let me think, let me see now, उम, उम्म, अम, अं, हम्म';

const phrasesIn = (list: string): ReadonlySet<string> => new Set(list.split(',').map(plainWords));
const listening = phrasesIn(LISTENING);
const agreeing = phrasesIn(AGREEING);
const patient = phrasesIn(PATIENT);
const asking = phrasesIn(ASKING);
const hesitating = phrasesIn(HESITATING);
const LONGEST_PHRASE = 4;

/**
 * Whether these words only say "I am listening": all of them are such sounds, or words of agreement while nothing was
 * asked. Said while the bot speaks, they do not want the floor.
 */
export function isBackchannel(text: string, questionOpen: boolean): boolean {
  return consistsOf(text, questionOpen ? [listening] : [listening, agreeing]);
}

/**
 * What the words of a caller say who was asked to wait: nothing that changes what was asked for, where all of them only wait
 * (`okay`) or ask whether anybody is there (`hello?`); undefined where they say more.
 */
export function waitingWords(text: string): 'patient' | 'asking' | undefined {
  if (consistsOf(text, [listening, agreeing, patient])) return 'patient';
  return consistsOf(text, [listening, agreeing, patient, asking]) ? 'asking' : undefined;
}

/** Whether the caller has only begun to think of an answer: nobody is told that "um" was not understood. */
export function isHesitation(text: string): boolean {
  return consistsOf(text, [hesitating]);
}

/** Whether the text has words, and all of them are phrases of these. */
function consistsOf(text: string, phrases: readonly ReadonlySet<string>[]): boolean {
  if (text === '') return false;
  const words = plainWords(text)
    .split(' ')
    .filter((word) => word !== '');
  for (let at = 0; at < words.length;) {
    const length = phraseLength(words, at, phrases);
    if (length === 0) return false;
    at += length;
  }
  return words.length > 0;
}

function phraseLength(words: readonly string[], at: number, phrases: readonly ReadonlySet<string>[]): number {
  for (let length = Math.min(LONGEST_PHRASE, words.length - at); length > 0; length -= 1) {
    const phrase = words.slice(at, at + length).join(' ');
    if (phrases.some((set) => set.has(phrase))) return length;
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

/** Words after which a sentence goes on: nobody ends a turn with them who has said all. */
const LEADS_ON = new Set(
  [
    'and or but so because if when that the a an my your his her our their to for from of at on in with by about i we you is are was um uh er erm like well',
    'और या लेकिन मगर पर क्योंकि अगर जब कि तो मेरा मेरी मेरे आपका आपकी मतलब यानी वो वह मैं हम',
  ]
    .join(' ')
    .split(' ')
    .map(plainWords),
);
/** Two words are enough to tell "my" from a whole answer such as "that". */
const LEAST_WORDS = 2;

/** Whether these words, as they stand, want others behind them: they end with a comma, or with a word that leads on. */
export function isUnfinished(text: string): boolean {
  if (/[,،:-]\s*$/u.test(text)) return true;
  const words = plainWords(text).split(' ');
  return words.length >= LEAST_WORDS && LEADS_ON.has(words.at(-1) ?? '');
}

/** Whether these words end as a sentence does: the recogniser heard it in the voice. */
export function isSentence(text: string): boolean {
  return /[.?!।॥？！。]["'”’)\]]*\s*$/u.test(text);
}
