import { createHash } from 'node:crypto';
import { Agent } from 'undici';
import type { Clock } from '../../kernel/clock.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { apiKeyHeader, FixedToken, ProvidedTokens, type Tokens } from './credentials.ts';
import { SpeechRequestError } from './errors.ts';
import { SpeechHttp, type SpeechHttpOptions } from './requests.ts';
import { keysOf, needed, type SpeechPlatformSettings } from './settings.ts';
import type { SlotLender } from './slot-lease.ts';
import { Slots } from './slots.ts';
import { TokenSource } from './tokens.ts';

/** The credentials, slots and HTTP senders of one client; each sender has its own base address. */
export interface Connections {
  /** Access tokens for `asrUrl` and `ttsUrl`: one source for each key, by the lane of a slot. */
  readonly tokens: readonly Tokens[];
  /** Slots of recognition in all forms, with Variant B. */
  readonly asrSlots: Slots;
  readonly ttsSlots: Slots;
  readonly medSlots: Slots;
  readonly ttsBreaker: CircuitBreaker;
  /** Circuit breaker of recognition. */
  readonly asrBreaker: CircuitBreaker;
  /** Sends to `asrUrl` with access tokens. */
  readonly asr: SpeechHttp;
  /** Sends to `ttsUrl` with access tokens. */
  readonly tts: SpeechHttp;
  /** The API keys, which Variant B and the medical service take directly (document 1, rule 9); may be empty. */
  readonly keys: readonly Tokens[];
  /** Sends to `asrAltUrl` with a key as bearer. @throws SpeechRequestError without a key */
  alt(): SpeechHttp;
  /** Sends to `medUrl` with a key in X-API-Key. @throws SpeechRequestError without a key */
  med(): SpeechHttp;
}

interface ConnectionDeps {
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly closing: AbortSignal;
  /** Where other machines have slots of the same keys. */
  readonly lender?: SlotLender | undefined;
}

const DEFAULT_SLOTS = 16;
/** At least 120 s (ASR doc, limits). */
const DEFAULT_TIMEOUT_MS = 120_000;

/** @throws TypeError unless there is exactly one of a key and a token */
export function connect(
  settings: SpeechPlatformSettings,
  { clock, fetch: fetcher, closing, lender }: ConnectionDeps,
): Connections {
  const apiKeys = keysOf(settings);
  const {
    slotsPerKey = DEFAULT_SLOTS,
    synthesisSlotsPerKey = slotsPerKey,
    requestTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS,
    token,
  } = settings;
  if (apiKeys.length > 0 === (token !== undefined))
    throw new TypeError('a speech client needs an API key or a token, one of the two');
  const tokens = token === undefined ? apiKeys.map((apiKey) => mintingTokens(settings, apiKey)) : [givenTokens(token)];
  const credentials = apiKeys.length > 0 ? apiKeys : ['token'];
  const slots = (service: string, perKey: number): Slots => {
    const names = credentials.map((key) => `${service} ${createHash('sha256').update(key).digest('hex').slice(0, 16)}`);
    return new Slots(perKey, { lanes: tokens.length, lent: lender && { lender, names, clock } });
  };
  const [asrSlots, ttsSlots] = [slots('asr', slotsPerKey), slots('tts', synthesisSlotsPerKey)];
  const medSlots = new Slots(slotsPerKey, { lanes: tokens.length });
  const asrBreaker = new CircuitBreaker({ clock, service: 'recognition' });
  const ttsBreaker = new CircuitBreaker({ clock, service: 'synthesis' });
  const sender = (options: Omit<SpeechHttpOptions, 'clock' | 'fetch' | 'timeoutMs'>): SpeechHttp =>
    new SpeechHttp({ ...options, clock, fetch: fetcher, timeoutMs });
  const keys = apiKeys.map((apiKey) => new FixedToken(apiKey));
  const keyed = (service: string, options: Pick<SpeechHttpOptions, 'slots' | 'header'>): SpeechHttp => {
    if (keys.length === 0) throw new SpeechRequestError(`${service} takes an API key, and the client was made with a token`);
    return sender({ tokens: keys, breaker: new CircuitBreaker({ clock, service }), ...options });
  };
  let alt: SpeechHttp | undefined;
  let med: SpeechHttp | undefined;
  return {
    tokens,
    asrSlots,
    ttsSlots,
    medSlots,
    ttsBreaker,
    asrBreaker,
    asr: sender({ tokens, slots: asrSlots, breaker: asrBreaker }),
    tts: sender({ tokens, slots: ttsSlots, breaker: ttsBreaker }),
    keys,
    alt: () => (alt ??= keyed('Variant B', { slots: asrSlots })),
    med: () => (med ??= keyed('the medical service', { slots: medSlots, header: apiKeyHeader })),
  };

  function mintingTokens({ tokenLifeSeconds, tokenStore }: SpeechPlatformSettings, apiKey: string): TokenSource {
    return new TokenSource({
      authUrl: needed(settings, 'authUrl'),
      apiKey,
      clock,
      fetch: fetcher,
      closing,
      ...(tokenLifeSeconds === undefined ? {} : { lifeSeconds: tokenLifeSeconds }),
      ...(tokenStore === undefined ? {} : { store: tokenStore }),
    });
  }
}

function givenTokens(token: NonNullable<SpeechPlatformSettings['token']>): Tokens {
  return typeof token === 'string' ? new FixedToken(token) : new ProvidedTokens(token);
}

/**
 * A `fetch` without the runtime's own time limits: that one gives up when an answer's head or the next part of its body takes
 * 300 s, and an hour of audio takes longer. Every request here has its own deadline.
 */
export class PatientFetch implements AsyncDisposable {
  readonly #agent: Agent;
  readonly fetch: typeof fetch;

  /** @param keepAliveMs how long an idle connection stays open, unless the server says another time; 4 s when absent */
  constructor(keepAliveMs?: number) {
    this.#agent = new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(keepAliveMs === undefined ? {} : { keepAliveTimeout: keepAliveMs }),
    });
    this.fetch = (input, init) => globalThis.fetch(input, Object.assign({}, init, { dispatcher: this.#agent }));
  }

  /** Closes the connections, idle ones and those in use. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}
