import type { Clock } from '../kernel/clock.ts';
import type { OnDial } from './caller/callee.ts';
import type { CallerLine } from './caller/caller.ts';
import type { LineEnd, LineFormats, LineOptions } from './carrier-line.ts';
import type { PlayoutBuffer } from './caller/playout-buffer.ts';

/** One call to a number of a simulated carrier. */
export interface PlaceOptions {
  /** The gateway's public base address, as the carrier was configured with it. */
  readonly url: string;
  /** Where the gateway is reached all the same; what is signed is the public address. */
  readonly connectTo?: string | undefined;
  readonly clock: Clock;
  /** Bot named in the address of the webhook, where the carrier has one. */
  readonly bot?: string | undefined;
  /** E.164, both. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The carrier's id of the call; a random one when absent. */
  readonly carrierCallId?: string | undefined;
  readonly stream?: LineOptions;
}

/** The same to a gateway that was configured by somebody else. */
export interface PlaceAtOptions extends PlaceOptions {
  /** What proves the carrier: the first of the gateway's secrets that `Carrier.proof` names. */
  readonly proof: string;
  /** The gateway's settings of the carrier, for who needs a port or an account's id of them. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The caller's end of a media stream. `CarrierLine` is one. */
export interface SimulatedLine extends CallerLine {
  readonly formats: LineFormats;
  readonly playout: PlayoutBuffer;
  /** What the carrier would complain of; empty after a good call. */
  readonly complaints: readonly string[];
  readonly ended: Promise<LineEnd>;
  /** The media stream's connection dies without a word. */
  drop(): void;
  /** The same, and the carrier does next what it does at the end of a stream. */
  sever(): void;
}

export interface SimulatedCarrierCall {
  readonly carrierCallId: string;
  /** The call's latest media stream. */
  readonly line: SimulatedLine;
  /** What the carrier's own voice said. */
  readonly said: readonly string[];
  /** Keys that the gateway pressed by a request or a message, in the order they came; tones in its audio are heard on the line. */
  readonly digits: readonly string[];
  /** Whom the call was connected to by a transfer, as the carrier was told. */
  readonly dialled: string | undefined;
  /** Resolves when the call is over at the carrier, and the gateway was told where the carrier does that. Never rejects. */
  readonly ended: Promise<unknown>;
  /** The caller hangs up. */
  hangUp(): Promise<void>;
}

/** An account of ours at a simulated carrier, with a REST interface where the carrier has one; on loopback. */
export interface SimulatedAccount extends AsyncDisposable {
  /** Settings and secrets of a gateway that belongs to this account: its whole environment as far as this carrier goes. */
  readonly env: Readonly<Record<string, string>>;
  /** Places a call and waits until its media stream has started. @throws CallRefused when none does; the call is over then */
  place(options: PlaceOptions): Promise<SimulatedCarrierCall>;
}

export interface AccountOptions {
  readonly clock: Clock;
  /** Who is at the other end of each call that the gateway orders; nobody can be called when absent. */
  readonly onDial?: OnDial;
}

/** One carrier, simulated, under the name that it has in `carriers/registry.ts`; to be listed in `carriers.ts`. */
export interface SimulatedCarrier {
  readonly name: string;
  /** False where the media stream does not carry the caller's keys; `press` does nothing then. */
  readonly hearsKeys?: false;
  /** An id of a call as the carrier makes them; a UUID where absent. */
  newCallId?(): string;
  open(options: AccountOptions): Promise<SimulatedAccount>;
  /**
   * A call to a gateway of somebody else. Absent where the gateway has to ask an interface of the carrier's before it can answer, or where
   * what the gateway knows is not enough to sign as the carrier.
   * @throws CallRefused
   */
  place?(options: PlaceAtOptions): Promise<SimulatedCarrierCall>;
}
