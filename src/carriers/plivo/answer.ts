import { ownVoice, voiceLocales } from '../own-voice.ts';
import { escapeXml, redirectXml, xmlResponse } from '../xml.ts';
import { contentTypeOf, type StreamAudio } from './dialect.ts';

/** The answer documents of Plivo and its dialects (plivo.com/docs/voice/xml). */

interface XmlStream {
  /** `wss` address, or `ws` on loopback. */
  readonly url: string;
  /** Where the stream's own events are reported. */
  readonly statusUrl: string;
  readonly audio: StreamAudio;
  /** Asked after the stream; without it the call ends with the stream. */
  readonly nextUrl?: string | undefined;
}

/**
 * Connects the call to a bidirectional media stream, then asks `nextUrl` what comes next. With `keepCallAlive` the document waits for the stream's
 * end; otherwise document and call would go on at once.
 */
export function streamAnswer({ url, statusUrl, audio, nextUrl }: XmlStream): string {
  const attributes = [
    'bidirectional="true"',
    'audioTrack="inbound"',
    'keepCallAlive="true"',
    // The two carriers' documents differ on the default.
    `contentType="${contentTypeOf(audio)}"`,
    `statusCallbackUrl="${escapeXml(statusUrl)}"`,
    'statusCallbackMethod="POST"',
  ];
  const next = nextUrl === undefined ? '' : redirectXml(nextUrl);
  return xmlResponse(`<Stream ${attributes.join(' ')}>${escapeXml(url)}</Stream>${next}`);
}

/** Transfers the caller to a number in E.164 form or a SIP address. The call ends with it. */
export function dialAnswer(to: string): string {
  const noun = /^sips?:/iu.test(to) ? 'User' : 'Number';
  return xmlResponse(`<Dial><${noun}>${escapeXml(to)}</${noun}></Dial>`);
}

/** Puts the call into a conference room that ends when either side leaves: joins two calls. */
export function joinAnswer(room: string): string {
  return xmlResponse(
    `<Conference startConferenceOnEnter="true" endConferenceOnExit="true" maxMembers="2">${escapeXml(room)}</Conference>`,
  );
}

/** Languages of `<Speak>` with the default woman's voice; the first of a language is its default region. */
const LOCALES = voiceLocales('da-DK de-DE en-US en-GB en-AU es-ES es-US fr-FR fr-CA it-IT nl-NL pl-PL pt-BR ru-RU sv-SE');

/** Speaks one sentence with the carrier's own voice and hangs up. @param language of the bot */
export function sayAnswer(sentence: string, language: string): string {
  const { text, locale } = ownVoice(sentence, language, LOCALES);
  const attribute = locale === undefined ? '' : ` language="${locale}"`;
  return xmlResponse(`<Speak${attribute}>${escapeXml(text)}</Speak><Hangup/>`);
}
