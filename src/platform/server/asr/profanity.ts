import { allSpans, type Mask, wordPattern } from './masking.ts';

/** Words that nobody wants read out, with their usual endings. Mild ones and words with a decent second meaning are left. */
const english = `fuck fucks fucked fucker fuckers fucking motherfucker motherfuckers motherfucking shit shits shitty shitting
  bullshit asshole assholes arsehole arseholes dickhead dickheads bitch bitches bastard bastards cunt cunts whore whores slut
  sluts wanker wankers`;
const hindi = `चूतिया चूतिये चुतिया चूतियापा मादरचोद बहनचोद बहेनचोद भेनचोद भोसड़ी भोसड़ीके भोसड़ीवाले हरामी हरामज़ादा हरामज़ादे
  हरामज़ादी कमीना कमीने कमीनी रंडी गांडू गाण्डू गांड लौड़ा लौड़े चोदू`;
const hindiInLatin = `chutiya chutiye chutiyapa madarchod maderchod behenchod bhenchod bahenchod bhosdi bhosdike harami haramzada
  haramzade haramzadi kamina kamine randi gandu lauda laude`;

const patterns = `${english} ${hindi} ${hindiInLatin}`.split(/\s+/).flatMap((word) => wordPattern(word, { split: false }) ?? []);
const letters = new Intl.Segmenter();

/** Hides profane words of English and Hindi, an asterisk for each letter (ASR doc, parameter profanity). */
export const profanity: Mask = {
  spans: (text) => allSpans(text, patterns),
  cover: (hidden) => '*'.repeat([...letters.segment(hidden)].length),
};
