import type { LegAddresses, LegDoor, OpenLeg } from '../call/transfer/agent-legs.ts';
import type { FrontChannel } from './front-channel.ts';
import { MediaProcessError } from './errors.ts';

interface Waiting {
  readonly resolve: (addresses: LegAddresses) => void;
  readonly reject: (error: MediaProcessError) => void;
}

/** Asks the front, which has the port, for the addresses of agents' legs. */
export class LegsAtFront implements LegDoor {
  readonly #channel: Pick<FrontChannel, 'report'>;
  readonly #waiting = new Map<string, Waiting>();

  constructor(channel: Pick<FrontChannel, 'report'>) {
    this.#channel = channel;
  }

  /** @throws MediaProcessError when the leg is closed before the front has answered, or the front has none */
  addresses(leg: OpenLeg, ringMs: number): Promise<LegAddresses> {
    const given = new Promise<LegAddresses>((resolve, reject) => this.#waiting.set(leg.legId, { resolve, reject }));
    this.#channel.report({ type: 'leg', ...leg, ringMs });
    return given;
  }

  placed({ legId, carrier }: OpenLeg, carrierCallId: string): void {
    this.#channel.report({ type: 'leg-placed', legId, carrier, carrierCallId });
  }

  closed({ legId }: OpenLeg): void {
    // Whoever waits for the addresses would wait for ever, and with them a process that ends.
    this.refused(legId, "the agent's leg was closed before it had addresses");
    this.#channel.report({ type: 'leg-over', legId });
  }

  given({ legId, ...addresses }: LegAddresses & { readonly legId: string }): void {
    this.#waiting.get(legId)?.resolve(addresses);
    this.#waiting.delete(legId);
  }

  refused(legId: string, problem: string): void {
    this.#waiting.get(legId)?.reject(new MediaProcessError(problem));
    this.#waiting.delete(legId);
  }
}
