import { pairTable } from '../kernel/pair-table.ts';

/**
 * The 145 languages listed by the platform (ASR doc, GET /languages): ISO 639-1 codes where they exist, else ISO 639-3. The documents
 * give the number only, so the choice is ours. Which languages are recognised depends on the engine.
 */
const names = pairTable(
  `af=Afrikaans, ak=Akan, sq=Albanian, am=Amharic, ar=Arabic, an=Aragonese, hy=Armenian, as=Assamese, ast=Asturian,
  av=Avaric, ay=Aymara, az=Azerbaijani, bm=Bambara, ba=Bashkir, eu=Basque, be=Belarusian, bn=Bengali, bho=Bhojpuri,
  bi=Bislama, brx=Bodo, bs=Bosnian, br=Breton, bg=Bulgarian, my=Burmese, yue=Cantonese, ca=Catalan, ceb=Cebuano,
  ckb=Central Kurdish, ny=Chichewa, zh=Chinese, cv=Chuvash, kw=Cornish, co=Corsican, hr=Croatian, cs=Czech, da=Danish,
  dv=Dhivehi, doi=Dogri, nl=Dutch, dz=Dzongkha, en=English, eo=Esperanto, et=Estonian, ee=Ewe, fo=Faroese, fil=Filipino,
  fi=Finnish, fr=French, ff=Fulah, gl=Galician, lg=Ganda, ka=Georgian, de=German, el=Greek, gn=Guarani, gu=Gujarati,
  ht=Haitian Creole, ha=Hausa, haw=Hawaiian, he=Hebrew, hi=Hindi, hu=Hungarian, is=Icelandic, ig=Igbo, id=Indonesian,
  ia=Interlingua, ga=Irish, it=Italian, ja=Japanese, jv=Javanese, kn=Kannada, ks=Kashmiri, kk=Kazakh, km=Khmer,
  rw=Kinyarwanda, kok=Konkani, ko=Korean, ku=Kurdish, ky=Kyrgyz, lo=Lao, la=Latin, lv=Latvian, ln=Lingala, lt=Lithuanian,
  lb=Luxembourgish, mk=Macedonian, mai=Maithili, mg=Malagasy, ms=Malay, ml=Malayalam, mt=Maltese, mni=Manipuri, mi=Maori,
  mr=Marathi, mn=Mongolian, ne=Nepali, no=Norwegian, nn=Norwegian Nynorsk, oc=Occitan, or=Odia, om=Oromo, ps=Pashto,
  fa=Persian, pl=Polish, pt=Portuguese, pa=Punjabi, qu=Quechua, ro=Romanian, ru=Russian, sm=Samoan, sa=Sanskrit,
  sat=Santali, gd=Scottish Gaelic, sr=Serbian, st=Sesotho, sn=Shona, sd=Sindhi, si=Sinhala, sk=Slovak, sl=Slovenian,
  so=Somali, es=Spanish, su=Sundanese, sw=Swahili, sv=Swedish, tg=Tajik, ta=Tamil, tt=Tatar, te=Telugu, th=Thai,
  bo=Tibetan, ti=Tigrinya, tr=Turkish, tk=Turkmen, uk=Ukrainian, ur=Urdu, ug=Uyghur, uz=Uzbek, vi=Vietnamese, cy=Welsh,
  wo=Wolof, xh=Xhosa, yi=Yiddish, yo=Yoruba, zu=Zulu`,
  ',',
);

export interface Language {
  readonly code: string;
  /** In English. */
  readonly name: string;
}

/** Sorted by code. */
export const languages: readonly Language[] = [...names]
  .map(([code, name]) => ({ code, name }))
  .sort((a, b) => (a.code < b.code ? -1 : 1));

const byWord = new Map<string, Language>();
for (const language of languages) {
  byWord.set(language.code, language);
  byWord.set(language.name.toLowerCase(), language);
}

/**
 * Finds a language by its code or English name, case ignored (ASR doc, parameter language_code). A region is dropped: `en-IN` is `en`.
 */
export function findLanguage(word: string): Language | undefined {
  const wanted = word.trim().toLowerCase();
  return byWord.get(wanted) ?? byWord.get(wanted.split(/[-_]/)[0] ?? '');
}

/** The English name with the code; the code alone for an unknown one. */
export function languageName(code: string): string {
  const language = byWord.get(code);
  return language === undefined ? code : `${language.name} (${code})`;
}

/** `auto`: the language is detected. */
export type LanguageChoice = { readonly type: 'auto' } | { readonly type: 'language'; readonly language: Language };

/** @returns undefined for an unknown language */
export function chooseLanguage(word: string | undefined): LanguageChoice | undefined {
  if (word === undefined || word.trim().toLowerCase() === 'auto') return { type: 'auto' };
  const language = findLanguage(word);
  return language === undefined ? undefined : { type: 'language', language };
}

/** The error for an unsupported code; the documents want all supported codes in it. */
export function unsupportedLanguage(word: string): string {
  return `Unsupported language_code ${JSON.stringify(word.slice(0, 40))}. Supported: auto, ${languages.map((language) => language.code).join(', ')}`;
}

/**
 * The 23 languages of streaming synthesis and LaTeX (TTS doc), English included (the vendor's list of voices, reference, fact 18).
 */
export const indicLanguages: ReadonlySet<string> = new Set(
  'as bn brx doi en gu hi kn ks kok mai ml mni mr ne or pa sa sat sd ta te ur'.split(' '),
);
