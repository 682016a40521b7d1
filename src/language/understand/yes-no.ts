import { type Found, phraseAt, phraseTable, tokenise, type Language, findPhrase, isMadeOf } from './tokens.ts';

export type YesNo = 'yes' | 'no';

/**
 * What a phrase means in an answer. `soft`: a yes, unless a no follows directly (`absolutely not`, `okay, no`). `not`: a no that also
 * negates the words after it (`I don't think that's right`). `unsure`: rules out a yes. `aside`: contains such words but is no answer.
 */
type Kind = YesNo | 'soft' | 'not' | 'unsure' | 'aside';

const ABOUT_ONESELF = ["I'm", 'I am'].flatMap((am) => ['good', 'fine', 'ok', 'okay', 'alright'].map((well) => `${am} ${well}`));

const TABLE = phraseTable<Kind>([
  ['yes', ['yes', 'yeah', 'yep', 'yup', 'yes please', 'sure', 'correct', 'exactly', 'perfect', 'great', 'good', 'true']],
  [
    'yes',
    [
      'you got it',
      'sounds good',
      'go ahead',
      'no problem',
      'not a problem',
      'no doubt',
      'not bad',
      "that's right",
      'that is right',
    ],
  ],
  ['yes', ['that is correct', 'why not', "don't see why not", "I don't see why not", ...ABOUT_ONESELF.map((am) => `${am} with`)]],
  ['soft', ['ok', 'okay', 'right', 'fine', 'alright', 'all right', 'absolutely', 'certainly', 'definitely', 'of course']],
  ['no', ['no', 'nope', 'nah', 'no thanks', 'no thank you', 'never mind']],
  ['not', ['not', "don't", 'do not', "I don't", 'I do not', 'never', "isn't", 'is not', 'wrong', 'incorrect', 'false']],
  ['not', ['you got it wrong', 'you got it all wrong']],
  ['not', ['no good', 'not right', 'not correct', 'not really', 'not quite', "that's not right", 'that is not right']],
  ['unsure', ['not sure', 'not so sure', 'not too sure', 'not quite sure', 'not really sure', 'not entirely sure', 'no idea']],
  ['unsure', ['not certain', "don't know", 'do not know', "I don't know", 'I do not know', 'not wrong', 'not incorrect']],
  ['unsure', ['are you sure', 'is that right', 'is that correct', "can't", 'cannot', "won't", "wouldn't", "shouldn't"]],
  ['unsure', ["couldn't", "doesn't", "didn't", "aren't", "wasn't", "haven't"]],
  ['aside', ['no worries', 'no rush', 'no hurry', 'no objection', 'no objections', "don't worry", "don't mind", "I don't mind"]],
  ['aside', ['do not worry', 'do not mind', 'I do not mind', ...ABOUT_ONESELF]],
  ['yes', ['हाँ', 'हां', 'हा', 'जी हाँ', 'हाँ जी', 'जी जी', 'सही है', 'हाँ ठीक है', 'जी ठीक है', 'चलेगा', 'ज़रूर', 'यस']],
  ['yes', ['कोई बात नहीं', 'कोई दिक्कत नहीं', 'कोई परेशानी नहीं', 'क्यों नहीं']],
  ['soft', ['जी', 'ठीक', 'ठीक है', 'सही', 'बिल्कुल', 'बिलकुल', 'बिल्कुल भी', 'बिलकुल भी', 'अच्छा', 'ओके']],
  ['no', ['नहीं', 'नही', 'जी नहीं', 'नहीं जी', 'ना', 'न', 'नो']],
  ['not', ['मत', 'गलत', 'गलत है', 'ठीक नहीं', 'सही नहीं']],
  ['unsure', ['पता नहीं', 'नहीं पता', 'मालूम नहीं', 'नहीं मालूम', 'गलत नहीं']],
  ['unsure', ['सही है ना', 'सही है न', 'ठीक है ना', 'ठीक है न', 'हाँ ना', 'हाँ न']],
  ['yes', ['haan', 'haa', 'haanji', 'ji haan', 'haan ji', 'jee haan', 'ji ji', 'sahi hai']],
  ['yes', ['koi baat nahi', 'koi baat nahin', 'koi dikkat nahi', 'koi dikkat nahin', 'kyon nahi', 'kyon nahin', 'kyun nahi']],
  ['soft', ['ji', 'jee', 'theek hai', 'thik hai', 'sahi', 'bilkul', 'bilkul bhi', 'accha']],
  ['no', ['nahi', 'nahin', 'ji nahi', 'ji nahin', 'jee nahin', 'nahin ji', 'nahi ji', 'naa']],
  ['not', ['mat', 'galat', 'galat hai', 'sahi nahi', 'sahi nahin']],
  ['unsure', ['pata nahi', 'pata nahin', 'nahi pata', 'nahin pata', 'galat nahi', 'galat nahin']],
]);

/**
 * Whether an utterance says yes or no, in either language, by its longest phrases: `not right` is no, `no problem` is yes, `जी नहीं` is
 * no. An utterance with both (`yes, no wait`, `जी वो नहीं`, `no, that's right`) is neither: a wrong yes costs more than another question.
 */
export function findYesNo(tokens: readonly string[]): Found<YesNo> | undefined {
  const said = phrasesOf(tokens);
  const yes = said.find(({ value }) => value === 'yes' || value === 'soft');
  const no = said.find(({ value }) => value === 'no' || value === 'not');
  if (no !== undefined) return yes === undefined ? { ...no, value: 'no' } : undefined;
  return yes === undefined || said.some(({ value }) => value === 'unsure') ? undefined : { ...yes, value: 'yes' };
}

/** Words that limit a yes. */
const TURNING = new Set(tokenise('but except although however instead change लेकिन मगर सिवाय बदल बदलना बदलिए lekin magar badal'));

/** Whether a read-back was right. `Yes, but the last digit is five` is no agreement. */
export function findAgreement(tokens: readonly string[]): Found<YesNo> | undefined {
  const found = findYesNo(tokens);
  return found?.value === 'yes' && tokens.some((token) => TURNING.has(token)) ? undefined : found;
}

/** End of the yes or no at the beginning of an utterance, and start of the one at its end. */
export function aroundYesNo(tokens: readonly string[]): { readonly from: number; readonly to: number } {
  let from = 0;
  for (let found = phraseAt(tokens, from, TABLE); found !== undefined; found = phraseAt(tokens, from, TABLE)) from = found.to;
  let to = tokens.length;
  for (let at = to - 1; at >= from; at -= 1) if (phraseAt(tokens.slice(0, to), at, TABLE)?.to === to) to = at;
  return { from, to };
}

/** The phrases that count, in order; a soft one joins the phrase directly after it. */
function phrasesOf(tokens: readonly string[]): readonly Found<Kind>[] {
  const said: Found<Kind>[] = [];
  for (let index = 0; index < tokens.length;) {
    const found = phraseAt(tokens, index, TABLE);
    index = found?.to ?? index + 1;
    const before = said.at(-1);
    if (found === undefined || found.value === 'aside' || isDenied(found.value, before?.value)) continue;
    const opened = before?.value === 'soft' && before.to === found.from && found.value !== 'yes';
    if (opened) said.pop();
    said.push(opened ? { ...found, from: before.from } : found);
  }
  return said;
}

/** `Not okay`, `I don't think that's right`. After a `no`, `that's fine` is thanks, while `that's right` contradicts it. */
function isDenied(kind: Kind, before: Kind | undefined): boolean {
  return kind === 'soft' ? before === 'not' || before === 'no' : kind === 'yes' && before === 'not';
}

interface Asking {
  readonly anywhere: readonly string[];
  /** Phrases that count only when nothing else is said: an answer may begin with them (`hello, I want to cancel`). */
  readonly alone: readonly string[];
}

const NOT_HEARD = ["I didn't", 'I did not', "didn't", 'did not'].flatMap((not) =>
  ['hear', 'catch'].flatMap((verb) => ['', ' that', ' you', ' it'].map((what) => `${not} ${verb}${what}`)),
);

const list = (phrases: string): readonly string[] => phrases.split(', ');

/** How callers ask to hear a question again. */
export const ASKING_AGAIN: Readonly<Record<Language, Asking>> = {
  en: {
    anywhere: list(
      'repeat, repeat that, say that again, say it again, once more, pardon, come again, what did you say, what was that',
    ),
    // "Hello?" asks whether anyone is there: hearing the question again answers it.
    alone: [
      ...list(
        "hello, hi, hey, sorry, what, excuse me, please, again, can you hear me, are you there, are you still there, anybody there, is anybody there, I can't hear you, I cannot hear you",
      ),
      ...NOT_HEARD,
    ],
  },
  hi: {
    anywhere: list(
      'दोहराइए, फिर से, फिर से कहिए, फिर से बोलिए, दोबारा, दोबारा बोलिए, दोबारा कहिए, रिपीट, सुनाई नहीं दिया, आवाज़ नहीं आ रही, क्या कहा, क्या बोला',
    ),
    // नमस्ते opens a call as often as it ends one.
    alone: ['नमस्ते', 'हैलो', 'हेलो', 'क्या', 'जी क्या'],
  },
};

/** Whether a caller asks for a repetition. */
export function asksAgain(tokens: readonly string[], language: Language): boolean {
  const { anywhere, alone } = ASKING_AGAIN[language];
  return anywhere.some((phrase) => findPhrase(tokens, tokenise(phrase)) >= 0) || isMadeOf(tokens, phraseTable([[true, alone]]));
}
