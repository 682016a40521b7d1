import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';
import type { CarrierRequest } from '../carrier.ts';

/**
 * HTTP Message Signatures as AudioHook clients make them (draft-ietf-httpbis-message-signatures;
 * purecloudlabs/audiohook-reference-implementation app/audiohook/src/httpsignature).
 */

const COVERED = [
  '@request-target',
  '@authority',
  'audiohook-organization-id',
  'audiohook-session-id',
  'audiohook-correlation-id',
  'x-api-key',
];
const INPUT =
  /^(?<label>[a-z][\w-]{0,30})=(?<params>\((?<components>"[a-z@-]{1,60}"(?: "[a-z@-]{1,60}")*)\)(?<rest>(?:;[a-z]+=(?:"[^"\\]{0,300}"|\d{1,15}))+))$/u;
const MOST_AGE_S = 10;
const MOST_SKEW_S = 3;
const LEAST_NONCE = 22;
/** Most nonces, each kept while its signature is valid; more upgrades than a gateway takes in that time. */
const MOST_NONCES = 10_000;

/** Checks upgrades of media sockets; accepts each signature once. */
export class UpgradeSignatures {
  readonly #secrets: readonly Secret[];
  readonly #apiKeys: readonly Secret[];
  /** Expiry of each nonce, oldest first. */
  readonly #nonces = new Map<string, number>();

  /** @param secrets client secrets in force, in base64. @param apiKeys accepts any key when empty */
  constructor(secrets: readonly Secret[], apiKeys: readonly Secret[]) {
    this.#secrets = secrets;
    this.#apiKeys = apiKeys;
  }

  /** Whether Genesys signed this upgrade for this address within the last ten seconds, and for the first time. */
  isSigned({ urls, headers }: CarrierRequest, wallMs: number): boolean {
    const apiKey = headers['x-api-key'] ?? '';
    const found = INPUT.exec(headers['signature-input'] ?? '')?.groups;
    const { label = '', params = '', components = '', rest = '' } = found ?? {};
    const names = components.split(' ').map((name) => name.slice(1, -1));
    const given = new Map(
      [...rest.matchAll(/;([a-z]+)=(?:"([^"]*)"|(\d+))/gu)].map((part) => [part[1], part[2] ?? part[3] ?? '']),
    );
    const nonce = given.get('nonce') ?? '';
    const nowS = wallMs / 1000;
    const createdS = Number(given.get('created') ?? Number.NaN);
    const expiresS = Number(given.get('expires') ?? Number.POSITIVE_INFINITY);
    const isFresh = createdS <= nowS + MOST_SKEW_S && nowS - createdS <= MOST_AGE_S && expiresS >= nowS;
    const isOurs = this.#apiKeys.length === 0 || this.#apiKeys.map((key) => key.equals(apiKey)).includes(true);
    const coversAll = COVERED.every((name) => names.includes(name)) && new Set(names).size === names.length;
    const alg = given.get('alg') ?? 'hmac-sha256';
    if (!isFresh || !isOurs || !coversAll || alg !== 'hmac-sha256') return false;
    if (apiKey === '' || given.get('keyid') !== apiKey || nonce.length < LEAST_NONCE) return false;
    const signature = signatureOf(headers['signature'] ?? '', label);
    if (signature === undefined) return false;
    const isRight = urls.some((url) => {
      const base = signatureBase({ names, params, url, headers });
      return base !== undefined && this.#secrets.map((secret) => isMadeWith(secret, base, signature)).includes(true);
    });
    return isRight && this.#isNew(nonce, nowS);
  }

  #isNew(nonce: string, nowS: number): boolean {
    for (const [old, untilS] of this.#nonces) {
      if (untilS >= nowS && this.#nonces.size < MOST_NONCES) break;
      this.#nonces.delete(old);
    }
    if (this.#nonces.has(nonce)) return false;
    this.#nonces.set(nonce, nowS + MOST_AGE_S + MOST_SKEW_S);
    return true;
  }
}

function signatureOf(header: string, label: string): Buffer | undefined {
  const encoded = new RegExp(`^${label}=:([A-Za-z0-9+/]{43}=):$`, 'u').exec(header)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
}

interface SignedUpgrade {
  readonly names: readonly string[];
  readonly params: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined where a covered field is missing. */
export function signatureBase({ names, params, url, headers }: SignedUpgrade): string | undefined {
  const { host, pathname, search } = new URL(url);
  const lines: string[] = [];
  for (const name of names) {
    const value = name === '@request-target' ? pathname + search : name === '@authority' ? host : headers[name]?.trim();
    if (value === undefined || value === '') return undefined;
    lines.push(`"${name}": ${value}`);
  }
  return [...lines, `"@signature-params": ${params}`].join('\n');
}

/** The secret is decoded to give the key. */
function isMadeWith(secret: Secret, base: string, signature: Buffer): boolean {
  const key = Buffer.from(secret.reveal(), 'base64');
  return key.length > 0 && timingSafeEqual(createHmac('sha256', key).update(base).digest(), signature);
}
