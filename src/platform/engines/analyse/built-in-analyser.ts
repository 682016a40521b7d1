import { isStopWord, stem, wordsOf, Glossary } from './glossary.ts';
import type { Analyser, Analysis, AnalysisRequest } from './port.ts';
import { normalise } from './normalise.ts';

/** Share of the sentences in the summary. */
const SHARE = 1 / 3;

/**
 * An extractive summary: the sentences with the most frequent terms, in their order.
 * @param maxWords words the summary may have; a single longer sentence is cut
 */
function summaryOf(utterances: readonly string[], maxWords: number): string {
  const sentences = utterances
    .flatMap((utterance) => utterance.split(/(?<=[.?!।])\s+/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
  const terms = sentences.map((sentence) =>
    wordsOf(sentence)
      .filter((word) => !isStopWord(word))
      .map(stem),
  );
  const counts = new Map<string, number>();
  for (const term of terms.flat()) counts.set(term, (counts.get(term) ?? 0) + 1);
  const ranked = sentences
    .map((sentence, index) => ({ sentence, index, worth: worthOf(terms[index] ?? [], counts, index) }))
    .sort((a, b) => b.worth - a.worth || a.index - b.index);
  const kept: { sentence: string; index: number }[] = [];
  let words = 0;
  for (const candidate of ranked) {
    const length = candidate.sentence.split(/\s+/).length;
    // A sentence said twice is kept once.
    if (kept.some(({ sentence }) => sentence === candidate.sentence)) continue;
    if (kept.length >= Math.max(1, Math.ceil(sentences.length * SHARE)) || (kept.length > 0 && words + length > maxWords))
      continue;
    kept.push(candidate);
    words += length;
  }
  const text = kept
    .sort((a, b) => a.index - b.index)
    .map(({ sentence }) => sentence)
    .join(' ');
  return text.split(/\s+/).slice(0, maxWords).join(' ');
}

/** Sums the frequencies of the terms, normalised by length; early sentences, where callers say what they want, weigh a little more. */
function worthOf(terms: readonly string[], counts: ReadonlyMap<string, number>, index: number): number {
  const sum = [...new Set(terms)].reduce((total, term) => total + (counts.get(term) ?? 0), 0);
  return (sum / Math.sqrt(Math.max(3, terms.length))) * (1 + 0.3 / (index + 1));
}

const MOST = 10;
const LONGEST = 3;

/**
 * The key terms of a transcript, at most ten: terms of the glossary first, in its spelling, then runs of words between stop words,
 * the most frequent and longest first.
 */
function keytermsOf(utterances: readonly string[], glossary: Glossary): string[] {
  const named: string[] = [];
  const runs = new Map<string, { term: string; count: number; words: number }>();
  for (const utterance of utterances) {
    // A redacted term ends a run, as punctuation does.
    for (const clause of utterance.split(/[.,;:?!।*()"]+/u)) {
      const words = clause.split(/\s+/).filter((word) => word !== '');
      const found = glossary.replacements(words);
      named.push(...found.map(({ text }) => text));
      const rest = words.map((word, index) =>
        found.some(({ from, count }) => index >= from && index < from + count) ? '.' : word,
      );
      for (const run of runsOf(rest)) {
        const key = run.map(stem).join(' ');
        const entry = runs.get(key) ?? { term: run.join(' '), count: 0, words: run.length };
        runs.set(key, { ...entry, count: entry.count + 1 });
      }
    }
  }
  const sums = occurrences(runs);
  const ranked = [...runs]
    .map(([key, run]) => ({ ...run, worth: (sums.get(key) ?? 0) * Math.sqrt(run.words) }))
    .sort((a, b) => b.worth - a.worth)
    .map(({ term }) => term);
  return [...new Set([...named, ...ranked])].slice(0, MOST);
}

/** How often each run of words occurs, also inside longer runs. */
function occurrences(runs: ReadonlyMap<string, { readonly count: number }>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [key, { count }] of runs) {
    const parts = key.split(' ');
    for (let from = 0; from < parts.length; from += 1) {
      for (let to = from + 1; to <= parts.length; to += 1) {
        const inner = parts.slice(from, to).join(' ');
        sums.set(inner, (sums.get(inner) ?? 0) + count);
      }
    }
  }
  return sums;
}

function runsOf(words: readonly string[]): string[][] {
  const runs: string[][] = [[]];
  for (const raw of words) {
    const word = wordsOf(raw).join(' ');
    const last = runs.at(-1) ?? [];
    if (word === '' || isStopWord(word) || /^\p{N}+$/u.test(word)) runs.push([]);
    else if (last.length === LONGEST) runs.push([word]);
    else last.push(word);
  }
  return runs.filter((run) => run.join('').length > 2);
}

type Sentiment = 'positive' | 'negative' | 'neutral';

const lexicon = new Map<string, number>();
function weigh(weight: number, list: string): void {
  for (const word of list.split(/\s+/)) lexicon.set(word.normalize('NFC'), weight);
}
weigh(
  2,
  `amazing awesome excellent fantastic wonderful perfect perfectly brilliant superb delighted love loved outstanding best thrilled शानदार
  बढ़िया बेहतरीन उत्तम लाजवाब`,
);
weigh(
  1,
  `good great nice happy glad pleased helpful thank thanks appreciate appreciated friendly polite quick easy clear correct satisfied enjoy
  enjoyed better fine lovely kind solved resolved fast smooth comfortable improved welcome अच्छा अच्छी अच्छे खुश धन्यवाद शुक्रिया सही
  मददगार संतुष्ट पसंद आसान ख़ुश बेहतर आराम मज़ा`,
);
weigh(
  -1,
  `bad sad slow late delay delayed wrong problem problems issue issues unhappy difficult confused confusing confuse complain complaint
  trouble pain hurt hurts missing lost fail failed fails broken expensive annoying annoyed disappointed disappointing upset worried worry
  sick rude poor error errors refuse sorry waiting stuck tired never cancel बुरा बुरी बुरे गलत ग़लत देर परेशान परेशानी दिक्कत समस्या
  शिकायत दुखी नाराज नाराज़ महंगा खराब ख़राब दर्द बीमार मुश्किल चिंता`,
);
weigh(
  -2,
  `terrible horrible awful worst hate hated unacceptable useless disgusting furious angry ridiculous pathetic nightmare fraud cheat cheated
  scam disaster बेकार घटिया बकवास धोखा गुस्सा नफरत नफ़रत वाहियात`,
);
lexicon.delete('never');

const negations = new Set(
  `not no never don't doesn't didn't can't couldn't won't isn't aren't wasn't weren't hardly without`.split(' '),
);
/** Hindi puts the negation after the adjective. */
const laterNegations = new Set(['नहीं', 'ना', 'मत', 'नही']);
const strengtheners = new Set(`very really so extremely totally absolutely too बहुत बेहद काफी काफ़ी इतना इतनी बड़ा`.split(' '));
/** Words on either side that a negation affects. */
const REACH = 3;
/** The sum of weights from which text is not neutral. */
const LEAST = 1;

/** The sentiment of a transcript, by a list of weighted words with negation and strengthening. */
function sentimentOf(utterances: readonly string[]): Sentiment {
  let sum = 0;
  for (const utterance of utterances) {
    const words = wordsOf(utterance);
    for (const [index, word] of words.entries()) {
      const weight = lexicon.get(word) ?? 0;
      if (weight === 0) continue;
      const before = words.slice(Math.max(0, index - REACH), index);
      const after = words.slice(index + 1, index + 1 + REACH);
      const negated = before.some((other) => negations.has(other)) || after.some((other) => laterNegations.has(other));
      const strong = before.slice(-2).some((other) => strengtheners.has(other));
      sum += weight * (strong ? 1.5 : 1) * (negated ? -0.7 : 1);
    }
  }
  if (sum >= LEAST) return 'positive';
  return sum <= -0.7 * LEAST ? 'negative' : 'neutral';
}

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
function intentOf(utterances: readonly string[], choices: readonly string[]): string {
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

/** Analysis by rules and word lists, for English and Hindi (docs/platform-features.md). */
export const builtInAnalyser: Analyser = {
  async analyse(request, signal) {
    signal.throwIfAborted();
    return analysed(request);
  },
};

function analysed({ utterances, parts, intentChoices, summaryMaxWords, glossary: terms }: AnalysisRequest): Analysis {
  const glossary = new Glossary(terms, 'lenient');
  return {
    ...(parts.has('intent') ? { intent: intentOf(utterances, intentChoices) } : {}),
    ...(parts.has('sentiment') ? { sentiment: sentimentOf(utterances) } : {}),
    ...(parts.has('summary') ? { summary: summaryOf(utterances, summaryMaxWords) } : {}),
    ...(parts.has('keyterms') ? { keyterms: keytermsOf(utterances, glossary) } : {}),
    ...(parts.has('normalizedText') ? { normalizedText: normalise(utterances, glossary) } : {}),
  };
}
