import { defaultPhrases } from '../../config/bot-phrases.ts';
import { sayLanguage } from './say-language.ts';

/** The answer documents of the voice webhook (TwiML). */

interface TwimlStream {
  /** `wss` address, or `ws` on loopback; without a query, which Twilio refuses (error 31920). */
  readonly url: string;
  /** Come back in the start message. Name and value together below 500 characters. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Connects the call to a media stream in both directions; the call ends when the stream does, as nothing follows. */
export function streamAnswer(answer: TwimlStream): string {
  const parameters = Object.entries(answer.parameters)
    .map(([name, value]) => `<Parameter name="${escapeXml(name)}" value="${escapeXml(value)}"/>`)
    .join('');
  return document(`<Connect><Stream url="${escapeXml(answer.url)}">${parameters}</Stream></Connect>`);
}

/** Connects the caller to somebody else: a number in E.164 form, or a SIP address. Nothing follows, so the call ends with theirs. */
export function dialAnswer(to: string): string {
  const noun = /^sips?:/iu.test(to) ? 'Sip' : 'Number';
  return document(`<Dial><${noun}>${escapeXml(to)}</${noun}></Dial>`);
}

/** Presses keys and asks the voice webhook again, which gives a live call another stream. @param url the webhook's address */
export function digitsAnswer(digits: string, url: string): string {
  return document(`<Play digits="${escapeXml(digits)}"/><Redirect method="POST">${escapeXml(url)}</Redirect>`);
}

/**
 * Speaks one sentence with the carrier's own voice and hangs up. A sentence that the carrier has no voice for is an
 * apology in English: it would be silence.
 * @param language of the bot; its built-in sentences may be English all the same
 */
export function sayAnswer(text: string, language: string): string {
  const english = defaultPhrases('en');
  const inEnglish = !/^en\b/u.test(language) && Object.values(english).includes(text);
  const locale = sayLanguage(inEnglish ? 'en' : language);
  // Without a language the voice is American, and reads Latin letters only.
  if (locale === undefined && OTHER_LETTER.test(text)) return sayAnswer(english.apology, 'en');
  const attribute = locale === undefined ? '' : ` language="${locale}"`;
  return document(`<Say${attribute}>${escapeXml(text)}</Say><Hangup/>`);
}

const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/u;

function document(inner: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Also removes what XML 1.0 cannot hold at all: control characters, lone surrogates, U+FFFE and U+FFFF. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, (mark) => ('\t\n\r'.includes(mark) ? mark : ''))
    .replaceAll(/[&<>"']/g, (mark) => entities[mark]!);
}
