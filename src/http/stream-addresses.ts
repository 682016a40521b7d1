import { createHash, randomBytes } from 'node:crypto';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import { type ClaimedToken, type ListenGrant, type StreamGrant, StreamTokens } from '../carriers/stream-token.ts';
import type { Clock } from '../kernel/clock.ts';
import { MemorySpentIds } from '../hosts/shared-state/memory.ts';
import type { SpentIds } from '../hosts/shared-state/port.ts';
import type { MediaExpectations } from './intake.ts';
import { socketAddress } from './public-addresses.ts';

/** What a carrier is given of a call: where its media goes, and where its status is reported. */
export interface CallAddresses {
  /** `wss`, or `ws` on loopback, with a single-use token in its path. */
  readonly streamUrl: string;
  readonly statusUrl: string;
}

export interface StreamAddressesOptions {
  /** At least 32 random bytes; new ones for this process when absent. */
  readonly key?: Uint8Array | undefined;
  /** Base address of the gateway as carriers reach it, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly carriers: OpenCarriers;
  /** Where the media of calls is expected. */
  readonly media: MediaExpectations;
  /** Told of each call that is about to be dialled, an agent's leg too, before its addresses are made. */
  readonly opened?: ((callId: string) => Promise<void> | undefined) | undefined;
  readonly clock: Clock;
  /** Tokens that all machines have used; this process alone when absent. */
  readonly spent?: SpentIds | undefined;
}

/** Tokens are rounded up to a second; one more so that the socket's own deadline comes first. */
const ROUNDING_MS = 2000;
/** Dials whose carrier's id is remembered: as many as may ring at once. */
const MOST_DIALS = 10_000;

/** How long all machines know which calls were dialled or had a signed socket, and which webhooks were answered: longer than a call. */
const KNOWN_MS = 86_400_000;
/** A carrier that got no answer asks once more within this. */
const ASKED_AGAIN_MS = 60_000;

interface Dial {
  readonly carrier: string;
  carrierCallId: string | undefined;
}

/** Mints the addresses that carriers reach calls by, for answers and for dials. */
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
   * For a call that is about to be dialled. Its media is expected from now on, until a while after the token's end; if none has come by
   * then, the call is given up as after any answer (`CallIntake.abandon`).
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

  /** The address of the stream of a call between people, for whoever sets up that call at the carrier. @param lifeMs of the token in it */
  async forListening(grant: ListenGrant, lifeMs: number): Promise<string> {
    return this.forToken(grant.carrier, await this.#tokens.mintListen(grant, lifeMs)).streamUrl;
  }

  /**
   * The carrier's id of a dialled call, from its answer or from its first report. From then on the media socket and reports
   * have to name it.
   * @returns false for another id than the one that is known. True for a dial that this process knows nothing of
   */
  placed(carrier: string, callId: string, carrierCallId: string): boolean {
    const dial = this.#dials.get(callId);
    if (dial === undefined) return true;
    // Before anything is noted: another tenant's account may be told any id.
    if (dial.carrier !== carrier) return false;
    if (dial.carrierCallId === undefined) void this.#mark(dialledId(carrier, carrierCallId));
    dial.carrierCallId ??= carrierCallId;
    return dial.carrierCallId === carrierCallId;
  }

  /** Whether this machine or another one has had the carrier dial that call within the last day. */
  isDialled(carrier: string, carrierCallId: string): Promise<boolean> {
    return this.#spent.isSpent(dialledId(carrier, carrierCallId));
  }

  /**
   * Notes a voice webhook that is about to be answered, and tells whether it came before, byte for byte.
   * @param webhook its proof and its body as they came
   * @returns `replayed`: it was answered and its call had media, or it was answered over a minute ago; `again`: the carrier may be asking once more
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

  /** A media socket of the call was signed by its carrier. */
  async signed(callId: string): Promise<void> {
    await this.#mark(signedId(callId));
  }

  /** Whether a media socket of the call was signed within the last day, at whichever machine. */
  wasSigned(callId: string): Promise<boolean> {
    return this.#spent.isSpent(signedId(callId));
  }

  /** Spends the token of a media socket. @returns a grant that names the carrier's call where it is known by now */
  async claim(token: string, carrier: string): Promise<ClaimedToken> {
    const claimed = await this.#tokens.claim(token, carrier);
    if (!('grant' in claimed)) return claimed;
    const grant = this.completed(claimed.grant);
    if (grant.carrierCallId !== undefined) void this.#mark(mediaId(carrier, grant.carrierCallId), 2 * ASKED_AGAIN_MS);
    return { grant };
  }

  /** With the carrier's id of the call, where this process has had it dialled and knows that by now. */
  completed(grant: StreamGrant): StreamGrant {
    const carrierCallId = grant.carrierCallId ?? this.#dials.get(grant.callId)?.carrierCallId;
    return carrierCallId === undefined ? grant : { ...grant, carrierCallId };
  }

  /** How long media may take to start, from the moment at which its token was minted. */
  mediaWithinMs(carrier: string, tokenMs: number): number {
    return tokenMs + (this.#options.carriers.get(carrier)?.startTimeoutMs ?? 0) + ROUNDING_MS;
  }

  /** For a token that a carrier was given before, and brings again to be answered. */
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
