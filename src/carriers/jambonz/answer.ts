import { documentUrl } from '../carrier.ts';

/** Documents for jambonz' webhooks: verbs that it obeys one after another (jambonz/schema, verbs/). */
export const VERBS_TYPE = 'application/json; charset=utf-8';

type Verbs = readonly Readonly<Record<string, unknown>>[];

export interface ListenFacts {
  /** `wss` address, or `ws` on loopback. */
  readonly url: string;
  readonly callId: string;
  readonly rateHz: number;
  /** What the socket proves itself with beside the token in its address. */
  readonly auth: { readonly username: string; readonly password: string };
  /** Asked for the next verbs when the socket has ended. */
  readonly nextUrl: string;
}

/** Connects the call to a media socket in both directions, and asks what comes next when the socket has ended. */
export function listenVerbs({ url, callId, rateHz, auth, nextUrl }: ListenFacts): string {
  return text([
    {
      verb: 'listen',
      url,
      wsAuth: auth,
      // What the caller says, without what the caller hears.
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

/** Speaks one sentence with the voice of the jambonz application, and hangs up. */
export function sayVerbs(sentence: string): string {
  // What looks like SSML is taken for it.
  return text([{ verb: 'say', text: sentence.replaceAll(/[<>&]/gu, ' ').slice(0, MOST_CHARACTERS) }, { verb: 'hangup' }]);
}

/** What a call that is redirected is to do: its address is fetched by jambonz. */
export type Redirection =
  /** Of an order: opens the media socket when the call is answered. */
  | { readonly kind: 'stream'; readonly url: string; readonly callId: string }
  /** @param to a number in E.164 form, or a SIP address */
  | { readonly kind: 'dial'; readonly to: string }
  /** Puts the call into a conference that ends with whoever leaves it first. */
  | { readonly kind: 'conference'; readonly name: string };

/** The address of a document that says so. */
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
 * The document at such an address; undefined for an address that we did not make.
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
