/** A word of any script, with marks, apostrophes and hyphens inside; no punctuation and no asterisks. */
const wordPattern = /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c\u200d]*(?:['’-][\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c\u200d]*)*/gu;

/** The words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return (text.match(wordPattern) ?? []).map((word) => word.toLowerCase().replaceAll('’', "'").normalize('NFC'));
}

const endings = ['ations', 'ation', 'ments', 'ment', 'ings', 'ing', 'ies', 'ied', 'ed', 'es', 's', 'e', 'y'];

/** The stem of an English word: `booked` and `booking` have one. Other words keep their letters. */
export function stem(word: string): string {
  const ending = endings.find((end) => word.endsWith(end) && word.length - end.length >= 3);
  const rest = ending === undefined ? word : word.slice(0, -ending.length);
  return /([b-df-hj-np-tv-z])\1$/.test(rest) ? rest.slice(0, -1) : rest;
}

/** Stop words, English and Hindi. */
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could
  did do does doing done down during each else ever every few for from further get gets getting go goes going gonna got had has
  have having he hello her here hers hi him his how i i'd i'll i'm i've if in into is it it's its just kindly know let let's like
  may maybe me might mine more most much must my need no nor not now of off oh ok okay on once one only or other our ours out over
  own please put really said same say says see shall she should so some such take tell than thank thanks that that's the their
  them then there there's these they they're this those through to too under until up upon us very want wanted wants was we we'd
  we'll we're well were what what's when where which while who whom why will with would yeah yes yet you you'd you'll you're your
  yours don't doesn't didn't can't couldn't won't isn't aren't wasn't
  और अगर अपना अपनी अपने अब अभी आप आपका आपकी आपके आपको इस इसका इसकी इसके इसको इसे इन उन उनका उनकी उनके उनको उस उसका उसकी उसके उसको
  उसे एक ऐसा ऐसे कब कभी कर करता करती करते करना करने करें करो का कि किस किसी की कुछ के को कौन क्या क्यों कृपया गई गए गया गयी चाहता
  चाहती चाहते चाहिए जब जहाँ जा जाए जाता जाती जाते जी जैसे जो तक तब तुम तो था थी थे दिया दी दीजिए दे देना देने दो न नहीं ना ने पर फिर
  बस बहुत बाद भी मगर मत मुझको मुझे में मेरा मेरी मेरे मैं मैंने यह यहाँ या ये रहा रही रहे लिए लेकिन लेना व वह वहाँ वाला वाली वाले वे
  वो सब सभी साथ से हम हमारा हमारी हमारे हमें हर हाँ ही हुआ हुई हुए हूँ है हैं हो होगा होगी होता होती होते होना`
    .split(/\s+/)
    .map((word) => word.normalize('NFC')),
);

export function isStopWord(word: string): boolean {
  return stopWords.has(word);
}

/** Consecutive words to replace with another text. */
export interface Replacement {
  readonly from: number;
  readonly count: number;
  readonly text: string;
}

/** Letters that may differ, by the length of the term; `lenient` is for names the recogniser does not know. */
const allowed = {
  strict: (letters: number): number => (letters < 6 ? 0 : letters < 9 ? 1 : letters < 12 ? 2 : 3),
  lenient: (letters: number): number => (letters < 4 ? 0 : letters < 6 ? 1 : letters < 10 ? 2 : 3),
} as const;

interface Term {
  readonly text: string;
  readonly key: string;
  readonly letters: number;
  readonly tolerance: number;
}

/** Finds terms in a transcript that are misspelt, split or run together, and gives their right spelling. */
export class Glossary {
  /** By first letter of the key: a term is never found under another first sound. */
  readonly #terms = new Map<string, Term[]>();
  #longest = 0;

  constructor(terms: readonly string[], tolerance: keyof typeof allowed) {
    for (const text of terms.map((term) => term.trim())) {
      const key = soundOf(text);
      if (key === '') continue;
      const [first = ''] = key;
      const letters = Array.from(key).length;
      const list = this.#terms.get(first) ?? [];
      list.push({ text, key, letters, tolerance: allowed[tolerance](letters) });
      this.#terms.set(first, list);
      this.#longest = Math.max(this.#longest, text.split(/\s+/).length + 1);
    }
  }

  /** @returns replacements from left to right without overlap, those of terms already spelt right included */
  replacements(words: readonly string[]): Replacement[] {
    const out: Replacement[] = [];
    for (let from = 0; from < words.length;) {
      const found = this.#at(words, from);
      if (found !== undefined) out.push(found);
      from += found?.count ?? 1;
    }
    return out;
  }

  #at(words: readonly string[], from: number): Replacement | undefined {
    let best: Replacement | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (let count = 1; count <= this.#longest && from + count <= words.length; count += 1) {
      const window = words.slice(from, from + count);
      // A term neither starts nor ends with a stop word, and spans no redacted word and no full stop.
      if ([window[0], window.at(-1)].some((word = '') => isStopWord(word.toLowerCase()))) continue;
      if (window.some((word) => word.includes('*'))) continue;
      if (window.slice(0, -1).some((word) => /[.?!,;:।]$/u.test(word))) break;
      const key = soundOf(window.join(' '));
      const letters = Array.from(key);
      for (const term of this.#terms.get(letters[0] ?? '') ?? []) {
        const most = Math.min(term.tolerance, least - 1);
        if (Math.abs(letters.length - term.letters) > most) continue;
        const distance = key === term.key ? 0 : editDistance(key, term.key, most);
        if (distance > most) continue;
        least = distance;
        best = { from, count, text: dressed(window, term.text) };
      }
    }
    return best;
  }
}

/** The term with the punctuation around the words it replaces. */
function dressed(window: readonly string[], text: string): string {
  const before = /^[^\p{L}\p{N}]*/u.exec(window[0] ?? '')?.[0] ?? '';
  const after = /(?:'s|’s)?[^\p{L}\p{M}\p{N}]*$/u.exec(window.at(-1) ?? '')?.[0] ?? '';
  return `${before}${text}${after}`;
}

/** A phonetic key for Latin letters, without blanks and punctuation; other scripts keep their letters. */
function soundOf(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replaceAll(/(?:'s|’s)(?=\P{L}*$)/gu, '')
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '')
    .replaceAll('ph', 'f')
    .replaceAll(/c(?=[eiy])/g, 's')
    .replaceAll(/c?k|c|q/g, 'k')
    .replaceAll('z', 's')
    .replaceAll(/ee|y/g, 'i')
    .replaceAll('oo', 'u')
    .replaceAll(/([a-z])\1+/g, '$1');
}

/**
 * The Levenshtein distance of two words.
 * @param most the search stops above this and returns a larger number
 */
export function editDistance(a: string, b: string, most: number): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  if (Math.abs(left.length - right.length) > most) return most + 1;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, letter] of left.entries()) {
    const next = [index + 1];
    for (const [at, other] of right.entries()) {
      next.push(Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)));
    }
    if (Math.min(...next) > most) return most + 1;
    row = next;
  }
  return row.at(-1) ?? 0;
}
