/**
 * Splits terms at double vertical bars and at line ends; a single bar belongs to its term, blanks are dropped (ASR doc,
 * parameter boost_phrases). A list is taken as it is.
 */
export function splitBoostPhrases(given: string | readonly string[]): string[] {
  const terms = typeof given === 'string' ? given.split(/\|\||\r?\n/) : given;
  return terms.map((term) => term.trim()).filter((term) => term !== '');
}
