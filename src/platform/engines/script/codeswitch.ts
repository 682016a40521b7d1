import type { Replacement } from '../analyse/glossary.ts';
import { spokenNumbers } from './spoken-numbers.ts';
import type { RecognisedWord, RecognitionResult } from '../recognise/port.ts';

/** Devanagari spellings of English words and names, with the English. */
const pairs = `अपॉइंटमेंट appointment, अपॉइन्टमेंट appointment, अपॉइंटमेंट्स appointments, डॉक्टर doctor, डॉक्टर्स doctors, नर्स nurse, हॉस्पिटल hospital, क्लिनिक clinic, मेडिसिन medicine,
  टेस्ट test, रिपोर्ट report, रिपोर्ट्स reports, ब्लड blood, प्रेशर pressure, शुगर sugar, एक्स-रे X-ray, ऑपरेशन operation, इमरजेंसी emergency, एम्बुलेंस ambulance, मोबाइल mobile,
  फ़ोन phone, फोन phone, नंबर number, नम्बर number, कॉल call, मैसेज message, एसएमएस SMS, ओटीपी OTP, पिन PIN, पासवर्ड password, लॉगिन login, ऐप app, वेबसाइट website, ईमेल email,
  इंटरनेट internet, कंप्यूटर computer, लैपटॉप laptop, ऑनलाइन online, ऑफलाइन offline, अकाउंट account, बैंक bank, कार्ड card, क्रेडिट credit, डेबिट debit, लोन loan, पेमेंट payment,
  बिल bill, चेक check, कैश cash, रिफंड refund, ऑर्डर order, डिलीवरी delivery, पार्सल parcel, प्रोडक्ट product, प्राइस price, डिस्काउंट discount, ऑफर offer, बुक book, बुकिंग booking,
  कैंसिल cancel, कैंसल cancel, कन्फर्म confirm, टिकट ticket, ट्रेन train, बस bus, फ्लाइट flight, होटल hotel, रूम room, टैक्सी taxi, ड्राइवर driver, स्टेशन station, एयरपोर्ट airport,
  ऑफिस office, कंपनी company, मैनेजर manager, मीटिंग meeting, टीम team, जॉब job, इंटरव्यू interview, सैलरी salary, स्कूल school, कॉलेज college, टीचर teacher, क्लास class, एग्जाम exam,
  सर sir, मैडम madam, मैम ma'am, हेलो hello, हैलो hello, हाय hi, थैंक्यू thank you, थैंक thank, यू you, सॉरी sorry, प्लीज please, प्लीज़ please, ओके okay, यस yes, नो no, गुड good,
  मॉर्निंग morning, इवनिंग evening, टाइम time, डेट date, मंडे Monday, ट्यूजडे Tuesday, वेडनेसडे Wednesday, थर्सडे Thursday, फ्राइडे Friday, सैटरडे Saturday, संडे Sunday,
  जनवरी January, फरवरी February, अप्रैल April, जुलाई July, अगस्त August, सितंबर September, अक्टूबर October, नवंबर November, दिसंबर December, प्रॉब्लम problem, इशू issue, हेल्प help,
  सर्विस service, सपोर्ट support, कस्टमर customer, केयर care, एजेंट agent, कंप्लेंट complaint, फॉर्म form, एड्रेस address, आधार Aadhaar, पैन PAN, पॉलिसी policy, इंश्योरेंस insurance,
  प्रीमियम premium, प्लान plan, रिचार्ज recharge, डेटा data, नेटवर्क network, वाईफाई Wi-Fi, गूगल Google, व्हाट्सएप WhatsApp, व्हाट्सऐप WhatsApp, फेसबुक Facebook, यूट्यूब YouTube,
  अमेज़न Amazon, अमेजन Amazon, फ्लिपकार्ट Flipkart, ज़ोमैटो Zomato, जोमैटो Zomato, स्विगी Swiggy, पेटीएम Paytm, ओला Ola, उबर Uber`;

const fromDevanagari = new Map(
  pairs.split(',').map((pair) => {
    const [written = '', ...english] = pair.trim().split(' ');
    return [written.normalize('NFC'), english.join(' ')] as const;
  }),
);

/** Names in their right spelling, by lower case. */
const names = new Map(
  `WhatsApp, Google, YouTube, Facebook, Instagram, Amazon, Flipkart, Zomato, Swiggy, Paytm, PhonePe, Ola, Uber, Airtel, Jio, Infosys, Delhi, New Delhi, Mumbai,
  Bengaluru, Bangalore, Chennai, Kolkata, Hyderabad, Pune, Ahmedabad, Jaipur, Lucknow, India, London, America, Monday, Tuesday, Wednesday, Thursday, Friday,
  Saturday, Sunday, January, February, April, June, July, August, September, October, November, December, Hindi, English, Wi-Fi, OTP, SMS, ATM, UPI, PIN`
    .split(',')
    .map((name) => [name.trim().toLowerCase(), name.trim()]),
);

/** The English spelling of a loan word in Hindi, or the right spelling of a name; undefined for other words. */
function englishOf(word: string): string | undefined {
  return fromDevanagari.get(word.normalize('NFC')) ?? names.get(word.toLowerCase());
}

/**
 * The code-switch pass (ASR doc, parameter codeswitch): English words in Latin script, names in their right spelling, spoken numbers
 * as digits.
 */
export function codeswitch(words: readonly string[]): Replacement[] {
  const numbers = spokenNumbers(words);
  const taken = new Set(numbers.flatMap(({ from, count }) => Array.from({ length: count }, (_, index) => from + index)));
  const spelt = words.flatMap((word, from): Replacement[] => {
    const [, before = '', bare = '', after = ''] = /^([^\p{L}]*)(.*?)([^\p{L}\p{M}\p{N}]*)$/u.exec(word) ?? [];
    const english = taken.has(from) ? undefined : englishOf(bare);
    return english === undefined ? [] : [{ from, count: 1, text: before + english + after }];
  });
  return [...numbers, ...spelt].sort((a, b) => a.from - b.from);
}

/** Finds consecutive words to replace; from left to right, without overlap. */
type Rewriter = (words: readonly string[]) => readonly Replacement[];

/** Rewrites a result: its text, its words with their times, and its alternatives. */
export function rewriteResult(result: RecognitionResult, rewriter: Rewriter): RecognitionResult {
  return {
    ...result,
    text: rewriteText(result.text, rewriter),
    words: rewriteWords(result.words, rewriter),
    alternatives: result.alternatives.map((other) => ({ ...other, text: rewriteText(other.text, rewriter) })),
  };
}

export function rewriteText(text: string, rewriter: Rewriter): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return spliced(words, rewriter(words), (_, replaced) => [replaced]).join(' ');
}

/** The code-switch pass over a final (ASR doc, codeswitch); text in Latin script starts with a capital. */
export function refineText(text: string): string {
  const tidy = rewriteText(text.normalize('NFC'), codeswitch);
  return tidy.replace(/^[a-z]/, (first) => first.toUpperCase());
}

/** The words of a replacement share the time of the replaced words by length, and have their lowest confidence. */
function rewriteWords(words: readonly RecognisedWord[], rewriter: Rewriter): RecognisedWord[] {
  const replacements = rewriter(words.map(({ word }) => word));
  return spliced(words, replacements, (replaced, text) => {
    const parts = text.split(' ').filter((part) => part !== '');
    const letters = parts.reduce((sum, part) => sum + part.length, 0);
    const startS = replaced[0]?.startS ?? 0;
    const lengthS = (replaced.at(-1)?.endS ?? startS) - startS;
    const confidence = Math.min(...replaced.map((word) => word.confidence));
    let before = 0;
    return parts.map((word) => {
      const from = startS + (lengthS * before) / letters;
      before += word.length;
      return { word, startS: from, endS: startS + (lengthS * before) / letters, confidence };
    });
  });
}

function spliced<Item>(
  items: readonly Item[],
  replacements: readonly Replacement[],
  replace: (replaced: readonly Item[], text: string) => readonly Item[],
): Item[] {
  const out: Item[] = [];
  let at = 0;
  for (const { from, count, text } of replacements) {
    out.push(...items.slice(at, from), ...replace(items.slice(from, from + count), text));
    at = from + count;
  }
  return [...out, ...items.slice(at)];
}
