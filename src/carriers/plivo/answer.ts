import { ownVoice } from '../own-voice.ts';
import { escapeXml, redirectXml, xmlResponse } from '../xml.ts';
import { contentTypeOf, type StreamAudio } from './dialect.ts';

/** The answer documents of Plivo and its dialects (plivo.com/docs/voice/xml). */

interface XmlStream {
  /** `wss` address, or `ws` on loopback. */
  readonly url: string;
  /** Where the stream's own events are reported. */
  readonly statusUrl: string;
  readonly audio: StreamAudio;
  /** Asked when the stream has ended; the call ends with the stream when absent. */
  readonly nextUrl?: string | undefined;
}

/**
 * Connects the call to a media stream in both directions; what comes behind the stream is asked for at `nextUrl`. With `keepCallAlive` the document waits
 * for the stream's end; without it the document, and so the call, would go on at once.
 */
export function streamAnswer({ url, statusUrl, audio, nextUrl }: XmlStream): string {
  const attributes = [
    'bidirectional="true"',
    'audioTrack="inbound"',
    'keepCallAlive="true"',
    // Documents of either carrier differ on the default.
    `contentType="${contentTypeOf(audio)}"`,
    `statusCallbackUrl="${escapeXml(statusUrl)}"`,
    'statusCallbackMethod="POST"',
  ];
  const next = nextUrl === undefined ? '' : redirectXml(nextUrl);
  return xmlResponse(`<Stream ${attributes.join(' ')}>${escapeXml(url)}</Stream>${next}`);
}

/** Connects the caller to somebody else: a number in E.164 form, or a SIP address. Nothing follows, so the call ends with theirs. */
export function dialAnswer(to: string): string {
  const noun = /^sips?:/iu.test(to) ? 'User' : 'Number';
  return xmlResponse(`<Dial><${noun}>${escapeXml(to)}</${noun}></Dial>`);
}

/** Puts the call into a conference room, which ends for all when one leaves: two calls that are joined. */
export function joinAnswer(room: string): string {
  return xmlResponse(
    `<Conference startConferenceOnEnter="true" endConferenceOnExit="true" maxMembers="2">${escapeXml(room)}</Conference>`,
  );
}

/** Languages that `<Speak>` reads with a woman's voice, the usual one; by language, the first where no region is named. */
const LOCALES: Readonly<Record<string, readonly string[]>> = {
  da: ['da-DK'],
  de: ['de-DE'],
  en: ['en-US', 'en-GB', 'en-AU'],
  es: ['es-ES', 'es-US'],
  fr: ['fr-FR', 'fr-CA'],
  it: ['it-IT'],
  nl: ['nl-NL'],
  pl: ['pl-PL'],
  pt: ['pt-BR'],
  ru: ['ru-RU'],
  sv: ['sv-SE'],
};

function speakLocale(language: string): string | undefined {
  const spoken = LOCALES[language.split('-')[0]?.toLowerCase() ?? ''];
  return spoken?.find((locale) => locale.toLowerCase() === language.toLowerCase()) ?? spoken?.[0];
}

/** Speaks one sentence with the carrier's own voice and hangs up. @param language of the bot */
export function sayAnswer(sentence: string, language: string): string {
  const { text, locale } = ownVoice(sentence, language, speakLocale);
  const attribute = locale === undefined ? '' : ` language="${locale}"`;
  return xmlResponse(`<Speak${attribute}>${escapeXml(text)}</Speak><Hangup/>`);
}
