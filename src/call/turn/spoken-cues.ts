import { plainWords } from './transcript.ts';

/** Backchannel sounds, whatever was said before them. */
const LISTENING = 'mm, mhm, mm hm, mm hmm, hm, hmm, uh huh, aha, हम्म, हूँ, हूं';
/** Words of agreement: a backchannel, but an answer while a question is open. */
const AGREEING =
  'yeah, yes, yep, ok, okay, right, sure, i see, got it, all right, alright, हाँ, हां, जी, जी हाँ, जी हां, हाँ जी, हां जी, अच्छा, ठीक, ठीक है, सही, haan, ji, haan ji, accha, theek hai';

/** Words of a caller who was asked to wait, and waits. */
const PATIENT =
  'thank you, thanks, please, fine, no problem, no worries, no rush, take your time, i will wait, ill wait, धन्यवाद, शुक्रिया, कोई बात नहीं, dhanyavaad, shukriya, koi baat nahi';
/** Words of a waiting caller who checks whether the line is alive. */
const ASKING =
  'hello, hi, hey, are you there, are you still there, you there, anyone there, anybody there, is anyone there, can you hear me, हैलो, हेलो, हलो, नमस्ते, सुन रहे हैं, helo';

/** Hesitations. */
const HESITATING =
  'um, umm, uhm, uh, uhh, er, erm, ah, hm, hmm, hmmm, mmm, well, so, let me see, let me think, let me see now, उम, उम्म, अम, अं, हम्म';

const phrasesIn = (list: string): ReadonlySet<string> => new Set(list.split(',').map(plainWords));
const listening = phrasesIn(LISTENING);
const agreeing = phrasesIn(AGREEING);
const patient = phrasesIn(PATIENT);
const asking = phrasesIn(ASKING);
const hesitating = phrasesIn(HESITATING);
const LONGEST_PHRASE = 4;

/** Whether the words are only a backchannel: sounds, or words of agreement without an open question. They do not interrupt the bot. */
export function isBackchannel(text: string, questionOpen: boolean): boolean {
  return consistsOf(text, questionOpen ? [listening] : [listening, agreeing]);
}

/** Classifies the words of a caller who was asked to wait: `patient` (`okay`), `asking` (`hello?`), or undefined where they say more. */
export function waitingWords(text: string): 'patient' | 'asking' | undefined {
  if (consistsOf(text, [listening, agreeing, patient])) return 'patient';
  return consistsOf(text, [listening, agreeing, patient, asking]) ? 'asking' : undefined;
}

/** Whether the words are only hesitation: "um" is not reported as misunderstood. */
export function isHesitation(text: string): boolean {
  return consistsOf(text, [hesitating]);
}

/** Whether the text consists only of these phrases. */
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

/** Whether a sentence of the bot is a question, which a word of agreement answers. */
export function isQuestion(sentence: string): boolean {
  return /[?？؟]["'”’»)\]]*\s*$/u.test(sentence);
}

/** Whether one of the phrases occurs in the text as whole words. @param phrases in the form of `plainWords` */
export function containsPhrase(text: string, phrases: readonly string[]): boolean {
  const spaced = ` ${plainWords(text)} `;
  return phrases.some((phrase) => phrase !== '' && spaced.includes(` ${phrase} `));
}

/** Words that never end a complete sentence. */
const LEADS_ON = new Set(
  [
    'and or but so because if when whether which that than the a an my your his her our their its every another to for from of at on in into with by about',
    "i we you they i'm i'd i'll i've it's that's there's we're we'll you're they're is are was were be been may might must should um uh er erm like well",
    'और या लेकिन मगर पर क्योंकि अगर जब कि तो मेरा मेरी मेरे आपका आपकी मतलब यानी वो वह मैं हम',
  ]
    .join(' ')
    .split(' ')
    .map(plainWords),
);
/** Two words are enough to tell "my" from a whole answer such as "that". */
const LEAST_WORDS = 2;

/** Number words, of which people dictate several in a row. */
const NUMBERS = new Set(
  [
    'zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    'twenty thirty forty fifty sixty seventy eighty ninety hundred thousand double triple',
    'शून्य एक दो तीन चार पाँच पांच छह छः सात आठ नौ दस सौ हज़ार हजार लाख डबल ट्रिपल',
  ]
    .join(' ')
    .split(' ')
    .map(plainWords),
);
/** Characters from the end of a text that hold its last words. */
const LONGEST_END = 80;

/** Whether the words are incomplete: they end with a comma, or with a word that leads on. */
export function isUnfinished(text: string): boolean {
  if (/[,،:-]\s*$/u.test(text)) return true;
  const words = plainWords(text.slice(-LONGEST_END)).split(' ');
  return words.length >= LEAST_WORDS && LEADS_ON.has(words.at(-1) ?? '');
}

/**
 * Whether the words end in a number that is being dictated, of a telephone or an address: two number words, or a figure of three digits. More of it may
 * follow. One number word ends many answers, such as "half past ten".
 */
export function endsInNumber(text: string): boolean {
  const [last = '', before = ''] = plainWords(text.slice(-LONGEST_END)).split(' ').toReversed();
  return /\d{3}$/u.test(last) || (isNumber(last) && isNumber(before));
}

function isNumber(word: string): boolean {
  return /^\d+$/u.test(word) || NUMBERS.has(word);
}

/** Whether the words end as a sentence does; the recogniser heard it in the voice. */
export function isSentence(text: string): boolean {
  return /[.?!।॥？！。]["'”’)\]]*\s*$/u.test(text);
}
