import { stem, wordsOf } from './words.ts';

/** Intent labels with their cues in English and Hindi; cues match by word stem. */
const intentCues: Readonly<Record<string, string>> = {
  cancel_booking: `cancel, cancel my appointment, cancel the booking, cancel my order, call it off, रद्द, रद्द करना, कैंसिल, कैंसल, अपॉइंटमेंट रद्द`,
  reschedule_booking: `reschedule, move my appointment, change my appointment, another day, different time, postpone, समय बदलना, तारीख बदलना,
    किसी और दिन, आगे बढ़ाना`,
  book_appointment: `appointment, book, book an appointment, make an appointment, schedule, reserve, reservation, slot, see the doctor, अपॉइंटमेंट,
    अपॉइंटमेंट चाहिए, बुक, बुक करना, समय चाहिए, मिलने का समय, डॉक्टर से मिलना`,
  payment_billing: `pay, payment, bill, invoice, charge, charged twice, billing, price, cost, fee, card, upi, installment, भुगतान, बिल, पैसे, फीस, शुल्क, कीमत,
    किस्त, पेमेंट`,
  refund: `refund, money back, give me my money, return it, reimburse, रिफंड, पैसे वापस, पैसा वापस, वापस चाहिए`,
  order_status: `order status, where is my order, track, tracking, delivery, deliver, shipped, package, parcel, arrive, ऑर्डर, डिलीवरी, पार्सल, कब आएगा,
    कहाँ है मेरा`,
  technical_support: `not working, doesn't work, broken, error, problem, issue, crash, password, reset, login, log in, internet, slow, install, काम नहीं कर,
    खराब, समस्या, दिक्कत, पासवर्ड, लॉगिन, नहीं चल`,
  complaint: `complaint, complain, unacceptable, terrible service, not happy, disappointed, angry, worst, rude, शिकायत, नाराज़, बेकार, घटिया, परेशान`,
  speak_to_person: `agent, human, representative, operator, real person, speak to a person, talk to someone, speak to someone, connect me, manager,
    किसी से बात, आदमी से बात, एजेंट, मैनेजर, बात करवा`,
  information_request: `information, what time, opening hours, open, where are you, address, how do i, how can i, tell me about, details, question, जानकारी,
    बताइए, बताओ, कितने बजे, पता, खुलता, कैसे`,
  medical_concern: `pain, fever, headache, cough, sick, hurts, symptom, prescription, medicine, doctor, blood pressure, दर्द, बुखार, खांसी, खाँसी, बीमार, दवा,
    दवाई, डॉक्टर`,
  thanks: `thank you so much, thanks a lot, that's all, nothing else, धन्यवाद, शुक्रिया`,
  greeting: `good morning, good afternoon, good evening, hello there, नमस्ते, नमस्कार`,
};

/** The label when no cue matches. */
const OTHER = 'other';
/** Choices that mean "none of these". */
const none = new Set(['other', 'others', 'unknown', 'none', 'general', 'misc', 'miscellaneous', 'na']);

interface Cue {
  readonly stems: readonly string[];
  /** Longer phrases weigh more. */
  readonly weight: number;
}

const cues = new Map<string, readonly Cue[]>(
  Object.entries(intentCues).map(([label, lines]) => [label, lines.split(',').map((phrase) => cueOf(phrase))]),
);

function cueOf(phrase: string): Cue {
  const stems = wordsOf(phrase).map(stem);
  return { stems, weight: stems.length };
}

/**
 * The speaker's intent: the label with the most cue words and phrases, the first of equals.
 * @param choices the only labels allowed; empty: the built-in labels
 */
export function intentOf(utterances: readonly string[], choices: readonly string[]): string {
  const said = utterances.map((utterance) => wordsOf(utterance).map(stem));
  const own = new Map([...cues].map(([label, list]) => [label, score(said, list)]));
  if (choices.length === 0) return best([...own], OTHER);
  const scored = choices.map((choice) => [choice, choiceScore(choice, said, own)] as const);
  const fallback = choices.find((choice) => none.has(choice.trim().toLowerCase())) ?? choices[0] ?? OTHER;
  return best(scored, fallback);
}

/** A choice scores by its own words, and by the cues of built-in labels that share a word with it. */
function choiceScore(choice: string, said: readonly (readonly string[])[], own: ReadonlyMap<string, number>): number {
  // `bookAppointment`, `book_appointment` and `Book appointment` are the same.
  const parts = wordsOf(choice.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll(/[_/-]/g, ' ')).map(stem);
  const direct = parts.filter((part) => said.some((words) => words.includes(part))).length;
  let related = 0;
  for (const [label, value] of own) {
    const names = label.split('_').map(stem);
    const shared = parts.filter((part) => names.includes(part)).length;
    related = Math.max(related, (value * shared) / names.length);
  }
  return 1.5 * direct + related;
}

function score(said: readonly (readonly string[])[], list: readonly Cue[]): number {
  let sum = 0;
  for (const { stems, weight } of list) {
    for (const words of said) {
      for (let at = 0; at + stems.length <= words.length; at += 1) {
        if (stems.every((part, index) => part === words[at + index])) sum += weight;
      }
    }
  }
  return sum;
}

function best(scored: readonly (readonly [string, number])[], fallback: string): string {
  let [label, most] = [fallback, 0];
  for (const [name, value] of scored) if (value > most) [label, most] = [name, value];
  return label;
}
