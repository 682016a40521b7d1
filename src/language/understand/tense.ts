import { tokenise } from './tokens.ts';

export type Tense = 'past' | 'future';

const PAST = new Set(
  tokenise(
    'yesterday ago last was were had did बीते बीता बीती पिछले पिछला पिछली गुज़रे गुज़रा था थी थे गया गयी गई गए हुआ हुई हुए आया आयी आई आए किया की थी मिला मिली लिया दिया बीत चुका चुकी चुके',
  ),
);
const FUTURE = new Set(
  tokenise('tomorrow will next coming shall आने आनेवाले अगले अगला अगली आगामी होगा होगी होंगे चाहिए सकता सकती सकते चाहता चाहती'),
);
/** Endings of Hindi verbs that look ahead: आऊँगा, करेंगे, मिलेगी. */
const AHEAD = /(?:ूंगा|ूंगी|ऊंगा|ऊंगी|एगा|एगी|ेगा|ेगी|ेंगे|ेंगी|एंगे|एंगी|ोगे|ोगी|िएगा)$/u;

/** The side of today that an utterance speaks of, by its verbs and adverbs; undefined where it does not tell or tells both. */
export function tenseOf(tokens: readonly string[]): Tense | undefined {
  const past = tokens.some((token) => PAST.has(token));
  const future = tokens.some((token) => FUTURE.has(token) || AHEAD.test(token));
  if (past === future) return undefined;
  return past ? 'past' : 'future';
}
