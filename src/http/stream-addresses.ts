import { createHash, randomBytes } from 'node:crypto';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import { type ClaimedToken, type ListenGrant, type StreamGrant, StreamTokens } from '../carriers/stream-token.ts';
import type { Clock } from '../kernel/clock.ts';
import { MemorySpentIds } from '../hosts/shared-state/memory.ts';
import type { SpentIds } from '../hosts/shared-state/port.ts';
import type { MediaExpectations } from './intake.ts';
import { socketAddress } from './public-addresses.ts';

/** Addresses of a call at a carrier: where its media goes, and where its status is reported. */
export interface CallAddresses {
  /** `wss`, or `ws` on loopback, with a single-use token in its path. */
  readonly streamUrl: string;
  readonly statusUrl: string;
}

export interface StreamAddressesOptions {
  /** At least 32 random bytes; generated for this process when absent. */
  readonly key?: Uint8Array | undefined;
  /** The gateway's base address for carriers, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly carriers: OpenCarriers;
  /** Expects the calls' media. */
  readonly media: MediaExpectations;
  /** Called for each call about to be dialled, agents' legs included, before its addresses are made. */
  readonly opened?: ((callId: string) => Promise<void> | undefined) | undefined;
  readonly clock: Clock;
  /** Tokens spent on any machine; this process only when absent. */
  readonly spent?: SpentIds | undefined;
}

/** Tokens are rounded up to a second; one more so that the socket's own deadline comes first. */
const ROUNDING_MS = 2000;
/** Most dials whose carrier id is remembered, above the number that may ring at once. */
const MOST_DIALS = 10_000;

/** How long machines remember dialled calls, calls with a signed socket, and answered webhooks: longer than a call. */
const KNOWN_MS = 86_400_000;
/** A carrier without an answer repeats its webhook within this time. */
const ASKED_AGAIN_MS = 60_000;

interface Dial {
  readonly carrier: string;
  carrierCallId: string | undefined;
}

/** Mints the addresses for carriers, in answers and dials. */
export class StreamAddresses {
  readonly #options: StreamAddressesOptions;
  readonly #tokens: StreamTokens;
  readonly #spent: SpentIds;
  /** By our own call id, oldest first. */
  readonly #dials = new Map<string, Dial>();

  constructor(options: StreamAddressesOptions) {
    this.#options = options;
    this.#spent = options.spent ?? new MemorySpentIds(options.clock);
    this.#tokens = new StreamTokens({ ...options, spent: this.#spent, key: options.key ?? randomBytes(32) });
  }

  /** For the answer to a voice webhook. @param lifeMs of the token */
  forAnswer(grant: StreamGrant, lifeMs: number): Promise<CallAddresses> {
    return this.#mint(grant, lifeMs, '/status');
  }

  /**
   * For a call about to be dialled. Its media is expected until shortly after the token's expiry; then the call is given up as after any answer
   * (`CallIntake.abandon`).
   * @param dial.callId our own id; `attachmentId` as `OutboundCalls.reserve` gave it
   * @param lifeMs of the token: `dialTokenMs` of the ring timeout
   */
  async forDial(dial: Required<Omit<StreamGrant, 'carrierCallId'>>, lifeMs: number): Promise<CallAddresses> {
    const { carrier, callId, attachmentId } = dial;
    this.#dials.set(callId, { carrier, carrierCallId: undefined });
    const [oldest] = this.#dials.keys();
    if (this.#dials.size > MOST_DIALS && oldest !== undefined) this.#dials.delete(oldest);
    this.#options.media.expect(callId, attachmentId, this.mediaWithinMs(carrier, lifeMs));
    await this.#options.opened?.(callId);
    return this.#mint(dial, lifeMs, `/status/${encodeURIComponent(callId)}`);
  }

  /** Stream address for a call between people, to be set up at the carrier. @param lifeMs of the token in it */
  async forListening(grant: ListenGrant, lifeMs: number): Promise<string> {
    return this.forToken(grant.carrier, await this.#tokens.mintListen(grant, lifeMs)).streamUrl;
  }

  /**
   * Notes the carrier's id of a dialled call, from its answer or first report. Media socket and reports must then name it.
   * @returns false for an id other than the known one; true for a dial unknown to this process
   */
  placed(carrier: string, callId: string, carrierCallId: string): boolean {
    const dial = this.#dials.get(callId);
    if (dial === undefined) return true;
    // Checked first: another tenant's account may report any id.
    if (dial.carrier !== carrier) return false;
    if (dial.carrierCallId === undefined) void this.#mark(dialledId(carrier, carrierCallId));
    dial.carrierCallId ??= carrierCallId;
    return dial.carrierCallId === carrierCallId;
  }

  /** Whether any machine has had the carrier dial that call within the last day. */
  isDialled(carrier: string, carrierCallId: string): Promise<boolean> {
    return this.#spent.isSpent(dialledId(carrier, carrierCallId));
  }

  /**
   * Notes a voice webhook about to be answered, and whether an identical one came before.
   * @param webhook its raw proof and body
   * @returns `replayed`: it was answered and its call had media, or it was answered over a minute ago; `again`: possibly a retry by the carrier
   */
  async asked(carrier: string, carrierCallId: string, webhook: readonly string[]): Promise<'first' | 'again' | 'replayed'> {
    const hash = createHash('sha256').update(JSON.stringify(webhook)).digest('base64url');
    const [id, lately] = [`answered ${carrier} ${hash}`, `lately ${carrier} ${hash}`];
    if (!(await this.#spent.isSpent(id))) {
      await Promise.all([this.#mark(id), this.#mark(lately, ASKED_AGAIN_MS)]);
      return 'first';
    }
    const hadMedia = await this.#spent.isSpent(mediaId(carrier, carrierCallId));
    return hadMedia || !(await this.#spent.isSpent(lately)) ? 'replayed' : 'again';
  }

  /** Notes that the carrier signed a media socket of the call. */
  async signed(callId: string): Promise<void> {
    await this.#mark(signedId(callId));
  }

  /** Whether any machine saw a signed media socket of the call within the last day. */
  wasSigned(callId: string): Promise<boolean> {
    return this.#spent.isSpent(signedId(callId));
  }

  /** Spends a media socket's token. @returns a grant with the carrier's call id where known by now */
  async claim(token: string, carrier: string): Promise<ClaimedToken> {
    const claimed = await this.#tokens.claim(token, carrier);
    if (!('grant' in claimed)) return claimed;
    const grant = this.completed(claimed.grant);
    if (grant.carrierCallId !== undefined) void this.#mark(mediaId(carrier, grant.carrierCallId), 2 * ASKED_AGAIN_MS);
    return { grant };
  }

  /** Adds the carrier's call id, where this process had the call dialled and knows it by now. */
  completed(grant: StreamGrant): StreamGrant {
    const carrierCallId = grant.carrierCallId ?? this.#dials.get(grant.callId)?.carrierCallId;
    return carrierCallId === undefined ? grant : { ...grant, carrierCallId };
  }

  /** Longest time until media starts, from the minting of its token. */
  mediaWithinMs(carrier: string, tokenMs: number): number {
    return tokenMs + (this.#options.carriers.get(carrier)?.startTimeoutMs ?? 0) + ROUNDING_MS;
  }

  /** For a token that the carrier already has, and presents again for an answer. */
  forToken(carrier: string, token: string, statusPath = '/status'): CallAddresses {
    const { publicUrl = this.#options.baseUrl(), route = `/carriers/${carrier}` } = this.#options.carriers.get(carrier) ?? {};
    const base = publicUrl + route;
    return { streamUrl: `${socketAddress(base)}/stream/${token}`, statusUrl: base + statusPath };
  }

  #mark(id: string, knownMs = KNOWN_MS): Promise<void> {
    return this.#spent.mark(id, this.#options.clock.wallMs() + knownMs);
  }

  async #mint(grant: StreamGrant, lifeMs: number, statusPath: string): Promise<CallAddresses> {
    return this.forToken(grant.carrier, await this.#tokens.mint(grant, lifeMs), statusPath);
  }
}

function dialledId(carrier: string, carrierCallId: string): string {
  return `dialled ${carrier} ${carrierCallId}`;
}

function mediaId(carrier: string, carrierCallId: string): string {
  return `media ${carrier} ${carrierCallId}`;
}

function signedId(callId: string): string {
  return `signed ${callId}`;
}
