import { findPhrase, type Language, tokenise } from './tokens.ts';

const list = (phrases: string): readonly string[][] => phrases.split(', ').map(tokenise);

/** What angry callers say. Words that are topics too, such as a complaint, are left out. */
const ANGRY: Readonly<Record<Language, readonly string[][]>> = {
  en: list(
    'ridiculous, unacceptable, useless, stupid, idiot, idiots, pathetic, bullshit, shit, fuck, fucking, fuck off, damn it, goddamn, what the hell, shut up, fed up, sick of this, sick and tired, wasting my time, waste of time, waste of my time, worst service, terrible service, horrible service, are you deaf, not listening, do not you listen, how many times, I already told you, I just told you, I have told you, furious, so angry, very angry, really angry, makes me angry, so annoying, so frustrating, this is nonsense',
  ),
  hi: list(
    'बकवास, बेवकूफ, बेवकूफी, पागल हो, घटिया, बेकार सर्विस, बेकार सेवा, बेकार की बात, तंग आ गया, तंग आ गई, परेशान हो गया, परेशान हो गई, दिमाग खराब, कितनी बार, गुस्सा, सुन नहीं रहे, सुनते नहीं, समय बर्बाद, टाइम बर्बाद, टाइम वेस्ट, चुप रहो, चुप करो, हद है, हद हो गई, बदतमीज, कमीने, हरामी, साले, नालायक',
  ),
};

/** How bots say that they did not understand; the built-in words among them. */
const NOT_UNDERSTOOD: Readonly<Record<Language, readonly string[][]>> = {
  en: list(
    'did not catch, did not get that, did not understand, did not quite, did not hear, could not understand, could not catch, do not understand, did not recognise, did not recognize, say it again, say that again, repeat that, try that again, still did not get',
  ),
  hi: list(
    'समझ नहीं पाई, समझ नहीं पाया, समझ नहीं सकी, समझ नहीं सका, समझ नहीं आया, समझ में नहीं आया, नहीं समझ, सुन नहीं पाई, सुन नहीं पाया, फिर से बताइए, फिर से बताएँ, फिर से कहिए, दोबारा बताइए, दोबारा बताएँ, दोबारा कहिए',
  ),
};

/** Whether a caller's words are angry. English words count in every language, as callers mix them. */
export function isAngry(text: string, language: Language): boolean {
  return says(text, ANGRY, language);
}

/** Whether a bot's words say that it did not understand the caller. */
export function saysNotUnderstood(text: string, language: Language): boolean {
  return says(text, NOT_UNDERSTOOD, language);
}

function says(text: string, phrases: typeof ANGRY, language: Language): boolean {
  // Short forms are written out: phrases have one spelling.
  const words = tokenise(text.replaceAll(/n['’]t\b/giu, ' not').replaceAll(/\bI['’]ve\b/gu, 'I have'));
  const lists = language === 'en' ? [phrases.en] : [phrases.en, phrases[language]];
  return lists.some((each) => each.some((phrase) => findPhrase(words, phrase) !== -1));
}
