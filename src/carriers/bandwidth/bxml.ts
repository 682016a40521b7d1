import { ownVoice, voiceLocales } from '../own-voice.ts';
import { escapeXml, xmlResponse } from '../xml.ts';

/** Documents of Bandwidth (dev.bandwidth.com/docs/voice/bxml): answers are a `<Response>`, updates of a live call a `<Bxml>`. */

/** Name of every media stream; a call has one at a time, and stops it by this name. */
const STREAM = 'offhook';
/** Waits until the stream's socket is closed. `<StartStream>` waits for nothing, so a shorter document would end the call. */
const UNTIL_STREAM_ENDS = `<StopStream name="${STREAM}" wait="true"/>`;
/** Stops stream and key reports before a transfer: later keys are not meant for us. */
const STOP_STREAM = `<StopGather/><StopStream name="${STREAM}"/>`;

export interface StreamBxml {
  /** `wss` address. */
  readonly url: string;
  /** Address for stream events, … */
  readonly statusUrl: string;
  /** … with these credentials. */
  readonly user: string;
  readonly password: string;
  /** Asked for the next document after the stream; without it the call ends with the stream. */
  readonly nextUrl?: string | undefined;
}

/** Connects the call to a bidirectional media stream, then asks `nextUrl` what comes next. */
export function streamBxml({ url, statusUrl, user, password, nextUrl }: StreamBxml): string {
  const attributes = Object.entries({
    name: STREAM,
    mode: 'bidirectional',
    tracks: 'inbound',
    destination: url,
    streamEventUrl: statusUrl,
    streamEventMethod: 'POST',
    username: user,
    password,
  }).map(([name, value]) => `${name}="${escapeXml(value)}"`);
  // The stream carries no keys; each is reported to the same address.
  const proof = `username="${escapeXml(user)}" password="${escapeXml(password)}"`;
  const keys = `<StartGather dtmfUrl="${escapeXml(statusUrl)}" dtmfMethod="POST" ${proof}/>`;
  const next = nextUrl === undefined ? '' : `<Redirect redirectUrl="${escapeXml(nextUrl)}" redirectMethod="POST" ${proof}/>`;
  return xmlResponse(`${keys}<StartStream ${attributes.join(' ')}/>${UNTIL_STREAM_ENDS}${next}`);
}

/** Ends the stream and transfers the caller to a number in E.164 form or a SIP address. */
export function transferBxml(to: string): string {
  const noun = /^sips?:/iu.test(to) ? 'SipUri' : 'PhoneNumber';
  return update(`${STOP_STREAM}<Transfer><${noun}>${escapeXml(to)}</${noun}></Transfer>`);
}

/** Presses keys, at most 50; the stream goes on meanwhile. `w` waits half a second. */
export function keysBxml(digits: string): string {
  return update(`<SendDtmf>${escapeXml(digits)}</SendDtmf>${UNTIL_STREAM_ENDS}`);
}

/** Ends the stream and has the call wait for a bridge. */
export function waitBxml(seconds: number): string {
  return update(`${STOP_STREAM}<Pause duration="${seconds}"/>`);
}

/** Ends the stream and bridges the call with another of the account. When one side hangs up, the other is hung up on. */
export function bridgeBxml(otherCallId: string): string {
  return update(`${STOP_STREAM}<Bridge>${escapeXml(otherCallId)}</Bridge>`);
}

/** Locales of `<SpeakSentence>`; by language, the first where no region is named. */
const LOCALES = voiceLocales('de_DE en_US en_GB es_ES es_MX fr_FR fr_CA it_IT ja_JP nl_NL pl_PL pt_PT pt_BR ru_RU sv_SE tr_TR');

/** Speaks one sentence with the carrier's own voice and hangs up. @param language of the bot */
export function sayBxml(sentence: string, language: string): string {
  const { text, locale } = ownVoice(sentence, language, LOCALES);
  const attribute = locale === undefined ? '' : ` locale="${locale}"`;
  return xmlResponse(`<SpeakSentence${attribute}>${escapeXml(text)}</SpeakSentence><Hangup/>`);
}

function update(inner: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Bxml>${inner}</Bxml>`;
}
