import type { Language } from '../understand/tokens.ts';
import type { AnswerContract } from './contract.ts';

/** At most ten terms bias a recogniser (ASR doc, streaming rule 2). */
const MOST_HINTS = 10;

const HINTS: Readonly<Record<Language, Readonly<Record<Exclude<AnswerContract['kind'], 'choice' | 'card' | 'otp'>, string>>>> = {
  en: {
    digits: 'zero one two three four five six seven eight nine',
    phone: 'zero one two three four five six seven eight nine',
    date: 'January,February,March,today,tomorrow,Monday,twenty first,the first of,next week,two thousand',
    time: "half past,quarter past,quarter to,o'clock,in the morning,in the afternoon,in the evening,noon,thirty,ten",
    money: 'hundred thousand lakh crore rupees dollars cents paise million point',
    'yes-no': "yes,no,that's right,correct,wrong,yes please,no thank you",
    name: 'my name is,first name,last name,spelled',
    email: 'at,dot,gmail dot com,yahoo dot com,underscore,hyphen,at the rate,outlook dot com,hotmail dot com,dot in',
    code: 'alpha,bravo,charlie,delta,double,zero,for,as in,dash,zed',
  },
  hi: {
    digits: 'शून्य एक दो तीन चार पाँच छह सात आठ नौ',
    phone: 'शून्य एक दो तीन चार पाँच छह सात आठ नौ',
    date: 'आज,कल,परसों,तारीख़,जनवरी,फ़रवरी,मार्च,सोमवार,अगले हफ़्ते,दो हज़ार',
    time: 'बजे साढ़े सवा पौने ढाई डेढ़ सुबह दोपहर शाम दस',
    money: 'रुपये पैसे सौ हज़ार लाख करोड़ डेढ़ ढाई साढ़े सवा',
    'yes-no': 'हाँ,नहीं,जी हाँ,जी नहीं,ठीक है,सही है,गलत है',
    name: 'मेरा नाम,कुमार,शर्मा,सिंह,देवी',
    email: 'ऐट,डॉट,जीमेल डॉट कॉम,याहू डॉट कॉम,ऐट द रेट,अंडरस्कोर,आउटलुक डॉट कॉम,हॉटमेल डॉट कॉम,डॉट इन,डैश',
    code: 'ए बी सी डी डबल शून्य फ़ॉर ज़ेड डब्ल्यू एक्स',
  },
};

/** Hints for the recogniser while this answer is expected, at most ten; empty for secure kinds. */
export function contractHints(contract: AnswerContract, language: Language): readonly string[] {
  switch (contract.kind) {
    case 'card':
    case 'otp':
      return [];
    case 'choice': {
      // Every option's first phrase before any option's second one.
      const longest = Math.max(0, ...contract.options.map(({ phrases }) => phrases.length));
      const ranked = Array.from({ length: longest }, (_, rank) =>
        contract.options.flatMap(({ phrases }) => phrases.slice(rank, rank + 1)),
      );
      return [...new Set(ranked.flat())].slice(0, MOST_HINTS);
    }
    case 'digits':
    case 'phone':
    case 'date':
    case 'time':
    case 'money':
    case 'yes-no':
    case 'name':
    case 'email':
    case 'code': {
      const words = HINTS[language][contract.kind];
      return words.split(words.includes(',') ? ',' : ' ').slice(0, MOST_HINTS);
    }
  }
}
