import type { StreamAnswer } from '../carrier.ts';
import { addressProof } from '../proofs.ts';
import { ownVoice, voiceLocales } from '../own-voice.ts';
import type { Secret } from '../../config/secrets.ts';
import { CALL_FIELD } from './codec.ts';

/** The answer documents of the voice webhook (NCCO, developer.vonage.com/voice/voice-api/ncco-reference). */
export const NCCO_TYPE = 'application/json; charset=utf-8';

/** Media socket options. */
export interface MediaSettings {
  /** Rate in both directions. */
  readonly rateHz: number;
  /** Key for the proof Vonage presents when it opens a socket; no proof when absent. */
  readonly proofKey: Secret | undefined;
}

export type Ncco = readonly Readonly<Record<string, unknown>>[];

/**
 * Connects the call to a media socket. Nothing may follow: actions after a `connect` run as soon as the socket is up, over the bot. Its events are
 * synchronous, so that a failed socket can be answered with a sentence.
 */
export function connectNcco({ url, callId, carrierCallId, statusUrl }: StreamAnswer, media: MediaSettings): Ncco {
  const headers = { ...(carrierCallId === undefined ? {} : { [CALL_FIELD]: carrierCallId }), 'call-id': callId };
  const { rateHz, proofKey } = media;
  const authorization = proofKey === undefined ? {} : { authorization: { type: 'custom', value: socketProof(url, proofKey) } };
  const socket = { type: 'websocket', uri: url, 'content-type': `audio/l16;rate=${rateHz}`, headers, ...authorization };
  return [{ action: 'connect', eventType: 'synchronous', eventUrl: [statusUrl], endpoint: [socket] }];
}

/**
 * The `Authorization` that Vonage sends when it opens a media socket, if the NCCO asks for it (`authorization` of the type `custom`, as in
 * @vonage/voice 1.21).
 */
export function socketProof(url: string, signatureSecret: Secret): string {
  return `Bearer ${addressProof(signatureSecret, `vonage-stream:${new URL(url).pathname}`)}`;
}

export function streamNcco(answer: StreamAnswer, media: MediaSettings): string {
  return text(connectNcco(answer, media));
}

/** @param to a number in E.164 form, or a SIP address */
export function dialNcco(to: string): Ncco {
  const endpoint = /^sips?:/iu.test(to) ? { type: 'sip', uri: to } : { type: 'phone', number: to.replace(/^\+/u, '') };
  return [{ action: 'connect', endpoint: [endpoint] }];
}

/**
 * Sends a call into a room that starts silently with the first party and ends when either leaves.
 * @param name of the room, global to the application: all calls with it hear each other
 */
export function conversationNcco(name: string): Ncco {
  return [{ action: 'conversation', name, startOnEnter: true, endOnExit: true }];
}

/** Languages of the carrier's own voice, in their usual region; English otherwise. */
const LOCALES = voiceLocales(
  'ar da-DK de-DE en-US es-ES fi-FI fr-FR hi-IN it-IT ja-JP ko-KR nl-NL no-NO pl-PL pt-BR ru-RU sv-SE ta-IN te-IN tr-TR',
);
/** Longest text of one `talk`. */
const MOST_CHARACTERS = 1_500;

/** Speaks one sentence and hangs up, as nothing follows. */
export function sayNcco(sentence: string, language: string): string {
  const { text: words, locale } = ownVoice(sentence, language, LOCALES);
  // Markup characters would be read as SSML.
  const talk = { action: 'talk', text: words.replaceAll(/[<>&]/gu, ' ').slice(0, MOST_CHARACTERS) };
  return text([locale === undefined ? talk : { ...talk, language: locale }]);
}

function text(ncco: Ncco): string {
  return JSON.stringify(ncco);
}
