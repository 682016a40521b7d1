import type { RecognitionEvent } from '../../speech/port.ts';
import { plainWords } from '../turn/transcript.ts';

/** Scripts of languages; any other is taken for one of Latin letters. */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  hi: /\p{Script=Devanagari}/gu,
  mr: /\p{Script=Devanagari}/gu,
  ne: /\p{Script=Devanagari}/gu,
  bn: /\p{Script=Bengali}/gu,
  as: /\p{Script=Bengali}/gu,
  pa: /\p{Script=Gurmukhi}/gu,
  gu: /\p{Script=Gujarati}/gu,
  or: /\p{Script=Oriya}/gu,
  ta: /\p{Script=Tamil}/gu,
  te: /\p{Script=Telugu}/gu,
  kn: /\p{Script=Kannada}/gu,
  ml: /\p{Script=Malayalam}/gu,
  ur: /\p{Script=Arabic}/gu,
  ar: /\p{Script=Arabic}/gu,
  ru: /\p{Script=Cyrillic}/gu,
  uk: /\p{Script=Cyrillic}/gu,
};
const LATIN = /\p{Script=Latin}/gu;
/** Hindi as recognisers of English write it. */
const ROMANISED_HINDI = new Set(
  'haan nahi nahin mujhe mera meri mere aap aapka aapke hai hain kya kaise kab kahan kyun chahiye chahie karna karni karo karein kal aaj ji namaste namaskar theek accha bolo boliye baat mein ka ki ke ko se hum main'.split(
    ' ',
  ),
);
/** Words of a phone call in any language: they do not tell it. */
const SHARED = new Set('hello hi hey ok okay hm hmm um uh mm हैलो हेलो हलो ओके हम्म'.split(' '));
/** Other names of languages than those that the platform knows. */
const MORE_NAMES: Readonly<Record<string, readonly string[]>> = {
  en: ['angrezi', 'angreji', 'अंग्रेजी', 'अंग्रेज़ी', 'इंग्लिश'],
  hi: ['हिंदी', 'हिन्दी'],
};
/** Beside the name of a language they ask for it; alone, the name does. */
const ASKING = new Set(
  'in speak talk please switch change continue prefer want use can में बात बोलो बोलिए बोलिये कीजिए कीजिये करें करो चाहिए mein me bolo boliye baat karo karein kijiye'.split(
    ' ',
  ),
);
const MOST_WORDS_OF_NAME = 2;

/**
 * Finds which of a bot's languages the caller speaks. The first turn with words that tell it decides: by script, by romanised words, or by the
 * recogniser's own detection. From then on it is locked, and changes only where the caller asks for another one.
 */
export class SpokenLanguage {
  readonly #languages: readonly string[];
  readonly #names: ReadonlyMap<string, string>;
  #current: string;
  #locked: boolean;
  /** The recogniser was asked to tell languages, so that those of its finals mean something. */
  #detects = false;
  /** Languages of the finals since the last turn. */
  readonly #detected: string[] = [];

  /**
   * @param languages of the bot, at least two
   * @param current language of the greeting, or of a resumed call
   * @param locked the caller's language is known
   */
  constructor(languages: readonly string[], current: string, locked = false) {
    this.#languages = languages;
    this.#current = current;
    this.#locked = locked;
    this.#names = new Map(languages.flatMap((language) => namesOf(language, languages).map((name) => [name, language] as const)));
  }

  /** The language to open a recogniser with. @param detects whether the recogniser can tell languages by itself */
  toListenFor(detects: boolean): string {
    this.#detects = detects && !this.#locked;
    return this.#detects ? 'auto' : this.#current;
  }

  hear(event: RecognitionEvent): void {
    if (event.type !== 'final' || event.language === undefined || !this.#detects) return;
    const known = this.#ours(event.language);
    if (known !== undefined && event.text.trim() !== '') this.#detected.push(known);
  }

  /**
   * The caller's turn is complete.
   * @param text its words
   * @returns the language to go on in, where it was just found or has changed
   */
  turn(text: string): string | undefined {
    const detected = this.#detected.splice(0).at(-1);
    const asked = this.#asked(text);
    if (asked === undefined && this.#locked) return undefined;
    const found = asked ?? (tells(text) ? (this.#byWords(text) ?? detected ?? this.#latin(text)) : undefined);
    if (found === undefined || (this.#locked && found === this.#current)) return undefined;
    this.#current = found;
    this.#locked = true;
    return found;
  }

  /** The dialog chose a language itself. */
  changed(language: string): void {
    this.#current = language;
    this.#locked = true;
  }

  #ours(code: string): string | undefined {
    return this.#languages.find((language) => baseOf(language) === baseOf(code));
  }

  /** The language that the caller asks for, as in "Hindi please". */
  #asked(text: string): string | undefined {
    const words = plainWords(text).split(' ');
    const named = [...this.#names].flatMap(([name, language]) =>
      ` ${words.join(' ')} `.includes(` ${name} `) ? [language] : [],
    );
    const [language, ...others] = [...new Set(named)];
    if (language === undefined || others.length > 0) return undefined;
    return words.length <= MOST_WORDS_OF_NAME || words.some((word) => ASKING.has(word)) ? language : undefined;
  }

  /** By a script that one of the languages has for itself, although English words stand between, or by Hindi words in Latin letters. */
  #byWords(text: string): string | undefined {
    const own = this.#languages.map((language) => ({ language, letters: lettersOf(language, text) }));
    const most = Math.max(...own.map(({ letters }) => letters));
    if (most === 0 || 4 * most < latinLetters(text)) return this.#romanised(text);
    return only(own.filter(({ letters }) => letters === most).map(({ language }) => language));
  }

  /** The only language of Latin letters. */
  #latin(text: string): string | undefined {
    if (latinLetters(text) === 0) return undefined;
    return only(this.#languages.filter((language) => SCRIPTS[baseOf(language)] === undefined));
  }

  /** Hindi in Latin letters: a third of the words are Hindi ones. */
  #romanised(text: string): string | undefined {
    const words = plainWords(text).split(' ');
    const hindi = words.filter((word) => ROMANISED_HINDI.has(word)).length;
    return 3 * hindi >= words.length ? this.#ours('hi') : undefined;
  }
}

/** Letters of the script that a language has for itself. */
function lettersOf(language: string, text: string): number {
  const script = SCRIPTS[baseOf(language)];
  return script === undefined ? 0 : (text.match(script)?.length ?? 0);
}

function latinLetters(text: string): number {
  return text.match(LATIN)?.length ?? 0;
}

function only<Item>([first, ...others]: readonly Item[]): Item | undefined {
  return others.length > 0 ? undefined : first;
}

function tells(text: string): boolean {
  return plainWords(text)
    .split(' ')
    .some((word) => word !== '' && !SHARED.has(word) && !/^\d+$/u.test(word));
}

/** What a language is called in each of these languages. */
function namesOf(language: string, languages: readonly string[]): readonly string[] {
  const names = ['en', ...languages].map((inLanguage) =>
    new Intl.DisplayNames([inLanguage], { type: 'language' }).of(baseOf(language)),
  );
  return [...names.flatMap((name) => name ?? []), ...(MORE_NAMES[baseOf(language)] ?? [])].map(plainWords);
}

function baseOf(code: string): string {
  return code.split('-')[0]?.toLowerCase() ?? code;
}
