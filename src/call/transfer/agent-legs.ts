import type { Attachment, CarrierWitness, DialProgress } from '../../carriers/port.ts';

/** Where a carrier opens the media stream of an agent's leg, and where it reports on it. */
export interface LegAddresses {
  readonly streamUrl: string;
  readonly statusUrl: string;
}

/** The leg of an agent that is rung, before a call knows it. */
export interface OpenLeg {
  /** Of this gateway; by it the stream and the reports find the leg. */
  readonly legId: string;
  readonly attachmentId: string;
  /** The call of the caller who waits. */
  readonly callId: string;
  readonly carrier: string;
}

/** What a carrier reports of a leg, in any order, perhaps more than once; of no effect from another account than the leg's. */
export interface LegReport {
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly progress?: DialProgress | undefined;
  readonly witness?: CarrierWitness | undefined;
}

/** What reaches a leg from outside. */
export interface LegListener {
  attached(attachment: Attachment): void;
  reported(report: LegReport): void;
  /** No media will come for it. */
  abandoned(reason: string): void;
}

export interface LegDoor {
  /** Has media and reports of this leg come to this process. Media is expected from then on. */
  addresses(leg: OpenLeg, ringMs: number): Promise<LegAddresses>;
  /** The carrier's id of the leg is known: its media and its reports have to name it from now on. */
  placed(leg: OpenLeg, carrierCallId: string): void;
  /** Nothing more of the leg is waited for. */
  closed(leg: OpenLeg): void;
}

/** What a call does with agents' legs. */
export interface CallLegs {
  /** @returns where the carrier finds the leg */
  open(leg: OpenLeg, ringMs: number, listener: LegListener): Promise<LegAddresses>;
  placed(leg: OpenLeg, carrierCallId: string): void;
  close(leg: OpenLeg): void;
  /** A leg is being hung up at its carrier; a process that ends waits for that, since the leg is paid for. Never rejects. */
  whileEnding(ending: Promise<void>): void;
}

/** The agents' legs of one process, by their ids. */
export class AgentLegs implements CallLegs {
  readonly #door: LegDoor;
  readonly #legs = new Map<string, LegListener>();
  readonly #ending = new Set<Promise<void>>();

  constructor(door: LegDoor) {
    this.#door = door;
  }

  open(leg: OpenLeg, ringMs: number, listener: LegListener): Promise<LegAddresses> {
    this.#legs.set(leg.legId, listener);
    return this.#door.addresses(leg, ringMs);
  }

  placed(leg: OpenLeg, carrierCallId: string): void {
    this.#door.placed(leg, carrierCallId);
  }

  close(leg: OpenLeg): void {
    if (this.#legs.delete(leg.legId)) this.#door.closed(leg);
  }

  whileEnding(ending: Promise<void>): void {
    const settled = ending.finally(() => this.#ending.delete(settled));
    this.#ending.add(settled);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#ending);
  }

  has(legId: string): boolean {
    return this.#legs.has(legId);
  }

  /** @returns false where there is no such leg, or it is over */
  attach(legId: string, attachment: Attachment): boolean {
    const leg = this.#legs.get(legId);
    leg?.attached(attachment);
    return leg !== undefined;
  }

  reported(legId: string, report: LegReport): void {
    this.#legs.get(legId)?.reported(report);
  }

  abandoned(legId: string, reason: string): void {
    this.#legs.get(legId)?.abandoned(reason);
  }
}
