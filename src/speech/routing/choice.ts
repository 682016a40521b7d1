import type { Bot } from '../../config/bots.ts';
import type { Recogniser, SynthesisRequest, Synthesizer } from '../port.ts';

/** The part of a bot that chooses its speech vendors. */
export type SpeakingBot = Pick<Bot, 'language' | 'voice' | 'speech'> & Partial<Pick<Bot, 'pronounce'>>;

/** Vendors where a bot names none, in order of preference. */
export interface SpeechDefaults {
  readonly recogniser: readonly string[];
  readonly synthesizer: readonly string[];
}

/** Reads the settings `speech.recogniser` and `speech.synthesizer`. */
export function speechDefaults(speech: { readonly recogniser: string; readonly synthesizer: string }): SpeechDefaults {
  const names = (list: string): string[] =>
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  return { recogniser: names(speech.recogniser), synthesizer: names(speech.synthesizer) };
}

/** Those that a bot names for a language: its own entry for it, else for all languages, else the settings'. First one first. */
export function chosen(
  service: keyof SpeechDefaults,
  { speech }: Pick<SpeakingBot, 'speech'>,
  language: string,
  defaults: SpeechDefaults,
): readonly string[] {
  return ofLanguage(speech.languages, language)?.[service] ?? speech[service] ?? defaults[service];
}

/** Whether the settings name a vendor, or a bot does, for any service and language. */
export function isNamed(name: string, bots: readonly SpeakingBot[], defaults: SpeechDefaults): boolean {
  return (['recogniser', 'synthesizer'] as const).some((service) => {
    const ofBots = bots.flatMap((bot) =>
      [bot.language, ...Object.keys(bot.speech.languages)].flatMap((language) => chosen(service, bot, language, defaults)),
    );
    return [...defaults[service], ...ofBots].includes(name);
  });
}

/**
 * The voice for a sentence with this synthesizer: the one the bot names for it; the bot's `voice`, or the dialog's, applies to the first synthesizer
 * only. Undefined without a suitable name.
 */
export function voiceOf(name: string, bot: SpeakingBot, request: SynthesisRequest, defaults: SpeechDefaults): string | undefined {
  const { language, voice } = request;
  const own = ofLanguage(bot.speech.languages, language)?.voices[name] ?? bot.speech.voices[name];
  const isFirst = (code: string): boolean => chosen('synthesizer', bot, code, defaults)[0] === name;
  // The dialog asked for a voice other than the bot's, which belongs to the first synthesizer of this language.
  if (voice !== bot.voice && isFirst(language)) return voice;
  return own ?? (isFirst(bot.language) ? voice : undefined);
}

/** Whether a service knows a language. @param language ISO 639 code, with a region or without; `auto` is to be detected */
export function knows(capabilities: Recogniser['capabilities'] | Synthesizer['capabilities'], language: string): boolean {
  if (language === 'auto') return 'detectsLanguage' in capabilities && capabilities.detectsLanguage;
  return capabilities.languages === 'any' || capabilities.languages.has(baseOf(language));
}

/** `hi` of `hi-IN`. */
export function baseOf(language: string): string {
  return language.split('-')[0] ?? language;
}

function ofLanguage<Entry>(languages: Readonly<Record<string, Entry>>, language: string): Entry | undefined {
  return languages[language] ?? languages[baseOf(language)];
}
