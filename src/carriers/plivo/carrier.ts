import { z } from 'zod';
import { MULAW_8K } from '../../audio/format.ts';
import type { Secret } from '../../config/secrets.ts';
import { addressOr, secret, settingFacts } from '../../config/setting.ts';
import { basicCredentials } from '../proofs.ts';
import { type Carrier, defineCarrier, nextUrl, startTimeoutMs, streamTokenMs, streamUrl, type WebhookDoor } from '../carrier.ts';
import { JsonCodec } from '../json-codec.ts';
import type { CarrierCapabilities } from '../port.ts';
import { escapeXml, hangUpXml, redirectXml, XML_TYPE, xmlResponse } from '../xml.ts';
import { PlivoControl, type PlivoControlSettings } from './control.ts';
import { AUDIO, contentTypeOf, plivoDialect, speechOf, type StreamAudio } from './dialect.ts';
import { isSignatures, isSigned, readStatusWebhook, readVoiceWebhook } from './webhook.ts';
import { ownVoice, voiceLocales } from '../own-voice.ts';

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

/** Differences between Plivo and the carriers that share its protocols. */
interface PlivoFamily {
  readonly name: string;
  readonly title: string;
  /** Prefix of the short environment names. */
  readonly envName: string;
  /** Header prefix, before `-Signature-V3`. */
  readonly headers: string;
  /** Whether form fields and the address's query are signed. */
  readonly signsFields: boolean;
  readonly api: { readonly url: string; readonly path: string };
  readonly credentials: PlivoControlSettings['credentials'];
  /** Default calls per second of an account. */
  readonly callsPerSecond: number;
  /** Byte order of the caller's linear samples, where known. */
  readonly l16ByteOrder: 'little' | 'big';
  /** The media stream has messages that press keys and end it. */
  readonly pressesKeys: boolean;
  readonly stops: boolean;
  readonly marksReturnOnClear: CarrierCapabilities['marksReturnOnClear'];
}

/** Two calls a second, by Plivo's pages on account limits. */
const PLIVO: PlivoFamily = {
  name: 'plivo',
  title: 'Plivo',
  envName: 'PLIVO',
  headers: 'X-Plivo',
  signsFields: true,
  api: { url: 'https://api.plivo.com', path: '/v1' },
  credentials: (authId, authToken) => ({ authorization: basicCredentials(authId, authToken) }),
  callsPerSecond: 2,
  l16ByteOrder: 'little',
  pressesKeys: true,
  stops: false,
  // "Only if the preceding events were played", by its pages; either way is handled, as mark names hold the generation.
  marksReturnOnClear: 'unknown',
};

const VOBIZ: PlivoFamily = {
  name: 'vobiz',
  title: 'Vobiz',
  envName: 'VOBIZ',
  headers: 'X-Vobiz',
  // Its V3 signs the address without its query, and the nonce (docs.vobiz.ai/concepts/validating-callbacks).
  signsFields: false,
  api: { url: 'https://api.vobiz.ai', path: '/api/v1' },
  credentials: (authId, authToken) => ({ 'x-auth-id': authId, 'x-auth-token': authToken }),
  // Undocumented; its pages refer to the account's limits.
  callsPerSecond: 1,
  // Its sample swaps the caller's bytes (docs.vobiz.ai/examples/vobiz-bun-media-stream), and its page on `playAudio` wants ours little-endian.
  l16ByteOrder: 'big',
  pressesKeys: false,
  stops: true,
  marksReturnOnClear: 'no',
};

export const plivo = carrierOf(PLIVO);
export const vobiz = carrierOf(VOBIZ);

function settingsOf({ title, envName, pressesKeys, api, l16ByteOrder }: PlivoFamily) {
  return z.object({
    authId: z
      .string()
      .regex(/^[A-Za-z0-9_-]{4,64}$/, 'letters, digits, _ and -')
      .optional()
      .register(settingFacts, {
        description: `Auth ID of the ${title} account, for outbound calls, transfers and hang-ups over the REST API${pressesKeys ? '' : ', and keypad digits'}`,
        aliases: [`OFFHOOK_${envName}_AUTH_ID`],
      }),
    apiUrl: addressOr(api.url, `Base address of ${title}'s REST API`, `OFFHOOK_${envName}_API_URL`),
    audio: z
      .enum(AUDIO)
      .default('mulaw-8k')
      .register(settingFacts, {
        description: 'What media streams are asked for as: G.711 mu-law, or linear PCM at 8 or 16 kHz, both ways',
        aliases: [`OFFHOOK_${envName}_AUDIO`],
      }),
    l16ByteOrder: z.enum(['little', 'big']).default(l16ByteOrder).register(settingFacts, {
      description: "Byte order of the caller's linear PCM, which no page of the carrier states; what is sent is little-endian",
    }),
    streamTokenMs: streamTokenMs(),
    startTimeoutMs: startTimeoutMs(5000),
  });
}

/** Signed form webhooks answered with XML, an audio stream of JSON messages, calls acted on over REST. */
function carrierOf(family: PlivoFamily): Carrier {
  const { name, title, envName, pressesKeys, stops } = family;
  return defineCarrier({
    name,
    title,
    capabilities: {
      clear: 'native',
      marks: 'native',
      marksReturnOnClear: family.marksReturnOnClear,
      // The documents on checkpoints mention a queue, without its limit.
      pacing: 'burst',
      frameMs: 0,
      dtmfOut: pressesKeys ? 'message' : 'rest',
      // The protocol pages have no message for the end of a call.
      closeEndsCall: true,
      comesBack: true,
    },
    offers: {
      audio: { from: 'mu-law 8 kHz, PCM 8, 16 kHz', to: 'mu-law 8 kHz, PCM 8, 16 kHz' },
      proof: { webhook: 'HMAC-SHA256, nonce', socket: 'token in the path' },
      dials: true,
      detectsMachines: true,
      transfer: 'rest',
      joins: true,
      listens: true,
    },
    speechFormat: MULAW_8K,
    speechFormatOf: (config) => speechOf(config.settings.audio),
    settings: settingsOf(family),
    secrets: z.object({
      authToken: secret(
        `Auth token of the ${title} account; several, separated by commas, during a rotation`,
        `OFFHOOK_${envName}_AUTH_TOKEN`,
      ),
    }),
    proof: { secret: 'authToken', envName: `OFFHOOK_${envName}_AUTH_TOKEN` },
    controlEnvName: `OFFHOOK_${envName}_AUTH_ID`,
    codec: (config) => new JsonCodec(plivoDialect({ l16ByteOrder: config.settings.l16ByteOrder, pressesKeys, stops })),
    door: (config, authTokens, { gatewayUrl }) => doorOf(family, config.settings, authTokens, gatewayUrl),
    control(config, { clock, gatewayUrl }) {
      const { apiUrl, authId, audio } = config.settings;
      const [authToken] = config.secrets['authToken'] ?? [];
      if (authId === undefined || authToken === undefined) return undefined;
      const { api, credentials, callsPerSecond } = family;
      const account = { apiUrl, apiPath: api.path, credentials, authId, authToken };
      return new PlivoControl({ ...account, carrier: name, gatewayUrl, callsPerSecond, audio }, clock);
    },
  });
}

function doorOf(
  { name, headers, signsFields }: PlivoFamily,
  { streamTokenMs: tokenMs, audio }: { readonly streamTokenMs: number; readonly audio: StreamAudio },
  authTokens: readonly Secret[],
  gatewayUrl: () => string,
): WebhookDoor {
  const signature = `${headers}-Signature-V3`;
  const [own = '', ofParent = '', nonce = ''] = [signature, `${headers}-Signature-Ma-V3`, `${signature}-Nonce`].map((header) =>
    header.toLowerCase(),
  );
  const stream = (url: string, statusUrl: string, callId: string | undefined): string =>
    streamAnswer({ url, statusUrl, audio, nextUrl: callId && nextUrl(gatewayUrl(), name, callId) });
  return {
    kind: 'webhook',
    streamTokenMs: tokenMs,
    body: 'form',
    oneAddress: true,
    header: signature,
    isProof: isSignatures,
    isSigned: ({ urls, headers: given }, { parsed }) =>
      isSigned(authTokens, {
        signatures: [given[own], given[ofParent]],
        nonce: given[nonce],
        urls,
        fields: signsFields ? fieldsOf(parsed) : undefined,
      }),
    nonceOf: ({ headers: given }) => given[nonce],
    readCall: (body, botName) => readVoiceWebhook(name, body, botName),
    readStatus: readStatusWebhook,
    needs: { call: 'The form has no usable CallUUID.', status: 'The form has no CallUUID, or none of CallStatus and Event.' },
    answers: {
      by: 'document',
      contentType: XML_TYPE,
      stream: ({ url, statusUrl, callId }) => stream(url, statusUrl, callId),
      say: sayAnswer,
      over: hangUpXml,
      fetched({ kind, value, callId }) {
        switch (kind) {
          case 'stream':
            // Stream events say nothing of a dial's progress, so they do not name the dial.
            return stream(streamUrl(gatewayUrl(), name, value), `${gatewayUrl()}/carriers/${name}/status`, callId);
          case 'dial':
            return dialAnswer(value);
          case 'join':
            return joinAnswer(value);
          default:
            return undefined;
        }
      },
    },
  };
}

function fieldsOf(parsed: unknown): Readonly<Record<string, unknown>> {
  return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
}
