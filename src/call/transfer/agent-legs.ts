import type { Attachment, CarrierWitness, DialProgress } from '../../carriers/port.ts';

/** Where a carrier opens the media stream of an agent's leg, and where it reports. */
export interface LegAddresses {
  readonly streamUrl: string;
  readonly statusUrl: string;
}

/** The leg of an agent about to be rung. */
export interface OpenLeg {
  /** This gateway's id of the leg; stream and reports find it by this. */
  readonly legId: string;
  readonly attachmentId: string;
  /** Call of the waiting caller. */
  readonly callId: string;
  readonly carrier: string;
}

/** A carrier's report of a leg, in any order and possibly repeated; ignored from another account. */
export interface LegReport {
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly progress?: DialProgress | undefined;
  readonly witness?: CarrierWitness | undefined;
}

/** Hears what reaches a leg from outside. */
export interface LegListener {
  attached(attachment: Attachment): void;
  reported(report: LegReport): void;
  /** No media will come for it. */
  abandoned(reason: string): void;
}

export interface LegDoor {
  /** Routes media and reports of this leg to this process. Media is expected from then on. */
  addresses(leg: OpenLeg, ringMs: number): Promise<LegAddresses>;
  /** The carrier's id of the leg is known: media and reports must name it. */
  placed(leg: OpenLeg, carrierCallId: string): void;
  /** Nothing more is expected for the leg. */
  closed(leg: OpenLeg): void;
}

/** What a call uses to ring agents. */
export interface CallLegs {
  /** @returns where the carrier finds the leg */
  open(leg: OpenLeg, ringMs: number, listener: LegListener): Promise<LegAddresses>;
  placed(leg: OpenLeg, carrierCallId: string): void;
  close(leg: OpenLeg): void;
  /** Registers a leg's hang-up at its carrier, which a stopping process waits for, since the leg is paid for. Never rejects. */
  whileEnding(ending: Promise<void>): void;
}

/** The agent legs of one process, by id. */
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

  /** @returns false for an unknown or ended leg */
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
