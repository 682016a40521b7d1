import { ownVoice, voiceLocales } from '../own-voice.ts';
import { escapeXml, redirectXml, xmlResponse } from '../xml.ts';

/** TwiML documents for the voice webhook. */

interface TwimlStream {
  /** `wss` address, or `ws` on loopback; without a query, which Twilio refuses (error 31920). */
  readonly url: string;
  /** Returned in the start message. Name and value together below 500 characters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Further attributes of `<Stream>`. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Asked after the stream; without it the call ends with the stream. */
  readonly nextUrl?: string | undefined;
}

/** Connects the call to a bidirectional media stream, then asks `nextUrl` what comes next. */
export function streamAnswer(answer: TwimlStream): string {
  const parameters = Object.entries(answer.parameters)
    .map(([name, value]) => `<Parameter name="${escapeXml(name)}" value="${escapeXml(value)}"/>`)
    .join('');
  const attributes = Object.entries({ url: answer.url, ...answer.attributes })
    .map(([name, value]) => `${name}="${escapeXml(value)}"`)
    .join(' ');
  const { nextUrl } = answer;
  const next = nextUrl === undefined ? '' : redirectXml(nextUrl);
  return xmlResponse(`<Connect><Stream ${attributes}>${parameters}</Stream></Connect>${next}`);
}

/** Transfers the caller to a number in E.164 form or a SIP address. The call ends with it. */
export function dialAnswer(to: string): string {
  const noun = /^sips?:/iu.test(to) ? 'Sip' : 'Number';
  return xmlResponse(`<Dial><${noun}>${escapeXml(to)}</${noun}></Dial>`);
}

/**
 * Puts the call into a conference room, without an entry sound; when one party leaves it ends for the other. Each call ends with it.
 * @param room without personal data, as Twilio asks
 */
export function conferenceAnswer(room: string): string {
  const attributes = 'beep="false" startConferenceOnEnter="true" endConferenceOnExit="true" waitUrl="" maxParticipants="2"';
  return xmlResponse(`<Dial><Conference ${attributes}>${escapeXml(room)}</Conference></Dial>`);
}

/** Presses keys and asks the voice webhook again, which gives the live call another stream. @param url the webhook's address */
export function digitsAnswer(digits: string, url: string): string {
  return xmlResponse(`<Play digits="${escapeXml(digits)}"/>${redirectXml(url)}`);
}

/** Languages of `<Say>` (twilio.com/docs/voice/twiml/say). */
const LOCALES = voiceLocales(`
  af-ZA am-ET ar=arb ar-AE ar-XA bg-BG bn-IN ca-ES cs-CZ cy-GB da-DK de-DE de-AT el-GR en-US en-AU en-CA en-GB en-IE en-IN en-NZ en-ZA es-ES es-MX
  es-US fi-FI fil-PH fr-FR fr-BE fr-CA gu-IN he-IL hi-IN hu-HU id-ID is-IS it-IT ja-JP kn-IN ko-KR lv-LV ml-IN mr-IN ms-MY nb-NO nl-NL nl-BE
  nn=nb-NO no=nb-NO pa-IN pl-PL pt-BR pt-PT ro-RO ru-RU sk-SK sr-RS sv-SE ta-IN te-IN th-TH tr-TR uk-UA vi-VN yue-HK zh=cmn-CN zh=cmn-TW zh-CN
  zh-HK zh-TW`);

/** Speaks one sentence with the carrier's own voice and hangs up. @param language of the bot */
export function sayAnswer(sentence: string, language: string): string {
  const { text, locale } = ownVoice(sentence, language, LOCALES);
  const attribute = locale === undefined ? '' : ` language="${locale}"`;
  return xmlResponse(`<Say${attribute}>${escapeXml(text)}</Say><Hangup/>`);
}
