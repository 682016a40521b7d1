/**
 * The locale of a language: `hi` is `hi-IN`, `en` is `en-US`, and one with a region stays as it is. Regions come from the likely
 * subtags of Unicode CLDR.
 * @see https://learn.microsoft.com/azure/ai-services/speech-service/language-support
 */
export function localeOf(language: string): string {
  const locale = new Intl.Locale(language);
  if (locale.region !== undefined) return locale.toString();
  const { region } = locale.maximize();
  return region === undefined ? locale.toString() : `${locale.language}-${region}`;
}
