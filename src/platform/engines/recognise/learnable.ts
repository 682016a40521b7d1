/** Learning one takes a second of processor or two. */
export const MOST_LEARNT_PHRASES = 50;
const MOST_LETTERS = 60;

/** Whether the synthesizers of a language can say a phrase, so that its sounds can be learnt. */
export function canBeLearnt(language: string, phrase: string): boolean {
  if (phrase.length > MOST_LETTERS || !/[\p{L}\p{N}]/u.test(phrase)) return false;
  return language !== 'en' || /^[\p{Script=Latin}\p{M}\p{N}\p{P}\s]+$/u.test(phrase);
}
