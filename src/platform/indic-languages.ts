/**
 * The languages of streaming synthesis and of LaTeX, as the TTS document counts them: 23, English among them (the
 * vendor's public list of voices, reference, fact 18).
 */
export const indicLanguages: ReadonlySet<string> = new Set(
  'as bn brx doi en gu hi kn ks kok mai ml mni mr ne or pa sa sat sd ta te ur'.split(' '),
);
