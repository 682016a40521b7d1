import { documentUrl } from '../carrier.ts';

/** Documents for jambonz' webhooks: verbs executed in order (jambonz/schema, verbs/). */
export const VERBS_TYPE = 'application/json; charset=utf-8';

type Verbs = readonly Readonly<Record<string, unknown>>[];

export interface ListenFacts {
  /** `wss` address, or `ws` on loopback. */
  readonly url: string;
  readonly callId: string;
  readonly rateHz: number;
  /** Credentials of the socket, beside the token in its address. */
  readonly auth: { readonly username: string; readonly password: string };
  /** Asked for the next verbs after the socket. */
  readonly nextUrl: string;
}

/** Connects the call to a bidirectional media socket, then asks what comes next. */
export function listenVerbs({ url, callId, rateHz, auth, nextUrl }: ListenFacts): string {
  return text([
    {
      verb: 'listen',
      url,
      wsAuth: auth,
      // Only the caller's audio.
      mixType: 'mono',
      sampleRate: rateHz,
      bidirectionalAudio: { enabled: true, streaming: true, sampleRate: rateHz },
      passDtmf: true,
      metadata: { offhookCallId: callId },
    },
    { verb: 'redirect', actionHook: nextUrl },
  ]);
}

/** Ends the call. */
export function hangUpVerbs(): string {
  return text([{ verb: 'hangup' }]);
}

const MOST_CHARACTERS = 1_500;

/** Speaks one sentence with the application's voice, and hangs up. */
export function sayVerbs(sentence: string): string {
  // Markup characters would be read as SSML.
  return text([{ verb: 'say', text: sentence.replaceAll(/[<>&]/gu, ' ').slice(0, MOST_CHARACTERS) }, { verb: 'hangup' }]);
}

/** What a redirected call does; jambonz fetches it by address. */
export type Redirection =
  /** For a dial order: opens the media socket on the answer. */
  | { readonly kind: 'stream'; readonly url: string; readonly callId: string }
  /** @param to a number in E.164 form, or a SIP address */
  | { readonly kind: 'dial'; readonly to: string }
  /** Puts the call into a conference that ends when either side leaves. */
  | { readonly kind: 'conference'; readonly name: string };

/** The address of such a document. */
export function redirectionUrl(gatewayUrl: string, redirection: Redirection): string {
  const { kind } = redirection;
  return documentUrl(gatewayUrl, 'jambonz', { kind, value: valueOf(redirection), callId: undefined });
}

function valueOf(redirection: Redirection): string {
  switch (redirection.kind) {
    case 'stream':
      return `${redirection.callId} ${redirection.url}`;
    case 'dial':
      return redirection.to;
    case 'conference':
      return redirection.name;
  }
}

/**
 * The document at such an address; undefined for an unknown one.
 * @param listen the verbs that open a media socket
 */
export function fetchedVerbs(
  kind: string,
  value: string,
  listen: (to: { readonly callId: string; readonly url: string }) => string,
): string | undefined {
  switch (kind) {
    case 'stream': {
      const [, callId, url] = /^(\S{1,100}) (wss?:\/\/\S+)$/u.exec(value) ?? [];
      return callId === undefined || url === undefined ? undefined : listen({ callId, url });
    }
    case 'dial': {
      if (!/^(?:\+\d{3,15}|sips?:[^\s"<>]{1,200})$/u.test(value)) return undefined;
      const target = value.startsWith('+') ? { type: 'phone', number: value } : { type: 'sip', sipUri: value };
      return text([{ verb: 'dial', target: [target] }, { verb: 'hangup' }]);
    }
    case 'conference': {
      if (!/^[\w-]{1,80}$/u.test(value)) return undefined;
      const conference = { name: value, beep: false, startConferenceOnEnter: true, endConferenceOnExit: true };
      return text([{ verb: 'conference', ...conference }, { verb: 'hangup' }]);
    }
    default:
      return undefined;
  }
}

function text(verbs: Verbs): string {
  return JSON.stringify(verbs);
}
