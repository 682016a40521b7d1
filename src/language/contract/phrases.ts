import type { Language } from '../understand/tokens.ts';
import { sayNumber } from '../understand/numbers.ts';
import type { AnswerContract } from './contract.ts';

/** The phrases of collecting a value; `{value}` is the spoken value. */
export interface ContractPhrases {
  /** For the first, second and later read-backs. */
  readonly confirm: readonly [string, string, string];
  /** After a no: how to repeat the value, by its kind. */
  readonly again: Readonly<Record<'digits' | 'letters' | 'other', string>>;
  readonly againByKeys: string;
  readonly missing: (said: string, missing: number | undefined) => string;
  readonly notUnderstood: string;
  readonly tooLong: string;
  readonly wrongCheck: string;
  readonly noSuchValue: string;
  readonly keypadOnly: string;
  readonly noInput: string;
  readonly yesOrNo: string;
  readonly which: (values: readonly string[]) => string;
}

const english: ContractPhrases = {
  confirm: ['{value}. Is that right?', 'So that is {value}. Is that right?', 'I read it slowly. {value}. Is that right?'],
  again: {
    digits: 'Sorry. Please say it again, digit by digit, or type it on the keypad.',
    letters: 'Sorry. Please spell it, letter by letter.',
    other: 'Sorry. Please say it again.',
  },
  againByKeys: 'Sorry. Please type it on the keypad, and end with the hash key.',
  missing: (said, missing) => {
    if (missing === undefined) return said === '' ? 'I did not get all of it. Please go on.' : `I have ${said}. Please go on.`;
    if (said === '') return 'Please say it again.';
    return `I have ${said}. ${sayNumber('en', missing)} ${missing === 1 ? 'is' : 'are'} missing. Please say the rest.`;
  },
  notUnderstood: 'Sorry, I did not get that. Please say it again.',
  tooLong: 'That is longer than it should be. Please say it again from the start.',
  wrongCheck: 'I may have misheard something in it. Please say it again, slowly.',
  noSuchValue: 'That does not look right. Please say it again.',
  keypadOnly: 'Please type it on the keypad of your phone. Do not say it.',
  noInput: 'I am still here. Please go on.',
  yesOrNo: 'Please say yes or no.',
  which: (values) => `Do you mean ${values.join(', or ')}?`,
};

const hindi: ContractPhrases = {
  confirm: ['{value}। क्या यह सही है?', 'तो यह है {value}। क्या यह सही है?', 'मैं धीरे से पढ़ती हूँ। {value}। क्या यह सही है?'],
  again: {
    digits: 'माफ़ कीजिए। कृपया एक एक अंक करके फिर से बताइए, या कीपैड पर दबाइए।',
    letters: 'माफ़ कीजिए। कृपया एक एक अक्षर करके बताइए।',
    other: 'माफ़ कीजिए। कृपया फिर से बताइए।',
  },
  againByKeys: 'माफ़ कीजिए। कृपया इसे कीपैड पर दबाइए, और अंत में हैश दबाइए।',
  missing: (said, missing) => {
    if (said === '') return missing === undefined ? 'मुझे पूरा नहीं मिला। कृपया आगे बताइए।' : 'कृपया फिर से बताइए।';
    return missing === undefined
      ? `मेरे पास है ${said}। कृपया आगे बताइए।`
      : `मेरे पास है ${said}। ${sayNumber('hi', missing)} और चाहिए। कृपया बाकी बताइए।`;
  },
  notUnderstood: 'माफ़ कीजिए, मैं समझ नहीं पाई। कृपया फिर से बताइए।',
  tooLong: 'यह ज़्यादा लंबा है। कृपया शुरू से फिर बताइए।',
  wrongCheck: 'शायद मैंने कुछ गलत सुना। कृपया धीरे से फिर बताइए।',
  noSuchValue: 'यह सही नहीं लगता। कृपया फिर से बताइए।',
  keypadOnly: 'कृपया इसे अपने फ़ोन के कीपैड पर दबाइए। बोलिए नहीं।',
  noInput: 'मैं सुन रही हूँ। कृपया बताइए।',
  yesOrNo: 'कृपया हाँ या नहीं कहिए।',
  which: (values) => `आपका मतलब ${values.join(' या ')} है?`,
};

export function contractPhrases(language: Language): ContractPhrases {
  return language === 'hi' ? hindi : english;
}

/** The clearest way to repeat a value of this kind. */
export function givenAgain(contract: AnswerContract): 'digits' | 'letters' | 'other' {
  switch (contract.kind) {
    case 'digits':
    case 'phone':
    case 'card':
    case 'otp':
      return 'digits';
    case 'code':
    case 'email':
    case 'name':
      return 'letters';
    case 'date':
    case 'time':
    case 'money':
    case 'yes-no':
    case 'choice':
      return 'other';
  }
}
