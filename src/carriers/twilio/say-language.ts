import type VoiceResponse from 'twilio/lib/twiml/VoiceResponse.js';

type SayLanguage = NonNullable<VoiceResponse.SayAttributes['language']>;

/** Languages of `<Say>`; the first is the default region. */
const locales: Readonly<Record<string, readonly SayLanguage[]>> = {
  af: ['af-ZA'],
  am: ['am-ET'],
  ar: ['arb', 'ar-AE', 'ar-XA'],
  bg: ['bg-BG'],
  bn: ['bn-IN'],
  ca: ['ca-ES'],
  cs: ['cs-CZ'],
  cy: ['cy-GB'],
  da: ['da-DK'],
  de: ['de-DE', 'de-AT'],
  el: ['el-GR'],
  en: ['en-US', 'en-AU', 'en-CA', 'en-GB', 'en-IE', 'en-IN', 'en-NZ', 'en-ZA'],
  es: ['es-ES', 'es-MX', 'es-US'],
  fi: ['fi-FI'],
  fil: ['fil-PH'],
  fr: ['fr-FR', 'fr-BE', 'fr-CA'],
  gu: ['gu-IN'],
  he: ['he-IL'],
  hi: ['hi-IN'],
  hu: ['hu-HU'],
  id: ['id-ID'],
  is: ['is-IS'],
  it: ['it-IT'],
  ja: ['ja-JP'],
  kn: ['kn-IN'],
  ko: ['ko-KR'],
  lv: ['lv-LV'],
  ml: ['ml-IN'],
  mr: ['mr-IN'],
  ms: ['ms-MY'],
  nb: ['nb-NO'],
  nl: ['nl-NL', 'nl-BE'],
  nn: ['nb-NO'],
  no: ['nb-NO'],
  pa: ['pa-IN'],
  pl: ['pl-PL'],
  pt: ['pt-BR', 'pt-PT'],
  ro: ['ro-RO'],
  ru: ['ru-RU'],
  sk: ['sk-SK'],
  sr: ['sr-RS'],
  sv: ['sv-SE'],
  ta: ['ta-IN'],
  te: ['te-IN'],
  th: ['th-TH'],
  tr: ['tr-TR'],
  uk: ['uk-UA'],
  vi: ['vi-VN'],
  yue: ['yue-HK'],
  zh: ['cmn-CN', 'cmn-TW', 'zh-CN', 'zh-HK', 'zh-TW'],
};

/** @returns Twilio's name of a language, in its region where Twilio has that; undefined without a voice for it */
export function sayLanguage(language: string): SayLanguage | undefined {
  const spoken = locales[language.split('-')[0]!];
  return spoken?.find((locale) => locale.toLowerCase() === language.toLowerCase()) ?? spoken?.[0];
}
