import { plainWords } from './transcript.ts';

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
