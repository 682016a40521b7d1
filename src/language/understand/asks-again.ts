import type { Language } from './language.ts';
import { findPhrase, isMadeOf, phraseTable, tokenise } from './tokens.ts';

interface Asking {
  readonly anywhere: readonly string[];
  /** Phrases that count only when nothing else is said: an answer may begin with them (`hello, I want to cancel`). */
  readonly alone: readonly string[];
}

const NOT_HEARD = ["I didn't", 'I did not', "didn't", 'did not'].flatMap((not) =>
  ['hear', 'catch'].flatMap((verb) => ['', ' that', ' you', ' it'].map((what) => `${not} ${verb}${what}`)),
);

/** How callers ask to hear a question again. */
export const ASKING_AGAIN: Readonly<Record<Language, Asking>> = {
  en: {
    anywhere: [
      'repeat',
      'repeat that',
      'say that again',
      'say it again',
      'once more',
      'pardon',
      'come again',
      'what did you say',
      'what was that',
    ],
    // "Hello?" asks whether anyone is there: hearing the question again answers it.
    alone: [
      'hello',
      'hi',
      'hey',
      'sorry',
      'what',
      'excuse me',
      'please',
      'again',
      'can you hear me',
      'are you there',
      'are you still there',
      'anybody there',
      'is anybody there',
      "I can't hear you",
      'I cannot hear you',
      ...NOT_HEARD,
    ],
  },
  hi: {
    anywhere: [
      'दोहराइए',
      'फिर से',
      'फिर से कहिए',
      'फिर से बोलिए',
      'दोबारा',
      'दोबारा बोलिए',
      'दोबारा कहिए',
      'रिपीट',
      'सुनाई नहीं दिया',
      'आवाज़ नहीं आ रही',
      'क्या कहा',
      'क्या बोला',
    ],
    // नमस्ते opens a call as often as it ends one.
    alone: ['नमस्ते', 'हैलो', 'हेलो', 'क्या', 'जी क्या'],
  },
};

/** Whether a caller asks for a repetition. */
export function asksAgain(tokens: readonly string[], language: Language): boolean {
  const { anywhere, alone } = ASKING_AGAIN[language];
  return anywhere.some((phrase) => findPhrase(tokens, tokenise(phrase)) >= 0) || isMadeOf(tokens, phraseTable([[true, alone]]));
}
