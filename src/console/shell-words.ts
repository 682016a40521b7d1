import { words } from './words.ts';

export const shellWords = words(
  {
    live: 'Live',
    calls: 'Calls',
    campaigns: 'Campaigns',
    bots: 'Bots',
    talk: 'Talk',
    system: 'System',
    skip: 'Skip to the content',
    menu: 'Menu',
    navigation: 'Pages',
    theme: 'Light or dark',
    language: 'Language',
    nothing: 'There is no such page',
    nothingHint: 'Or your role does not have it. The pages that you have are in the menu.',
  },
  {
    live: 'लाइव',
    calls: 'कॉल',
    campaigns: 'अभियान',
    bots: 'बॉट',
    talk: 'बात करें',
    system: 'सिस्टम',
    skip: 'सामग्री पर जाएँ',
    menu: 'मेन्यू',
    navigation: 'पृष्ठ',
    theme: 'हल्का या गहरा',
    language: 'भाषा',
    nothing: 'ऐसा कोई पृष्ठ नहीं है',
    nothingHint: 'या आपकी भूमिका में यह नहीं है। आपके पृष्ठ मेन्यू में हैं।',
  },
);
