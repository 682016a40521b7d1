import { ClusterCalls, type ClusterCallsOptions } from './cluster-calls.ts';
import { PeerProofs } from './peer-proofs.ts';
import { PeerServer } from './peer-server.ts';
import type { Settings } from '../config/schema.ts';
import type { SharedState } from './shared-state/port.ts';

export interface ClusterOptions extends Omit<ClusterCallsOptions, 'shared' | 'proofs'> {
  readonly settings: Pick<Settings, 'cluster'>;
  readonly shared: SharedState;
}

/** The other machines of the gateway, as this one has to do with them. */
export interface Cluster extends AsyncDisposable {
  /** Those of all machines. */
  readonly calls: ClusterCalls;
}

/** Joins the machines of a gateway. @returns undefined where this is the only one @throws GatewayPortError; as `secret` of `SharedState` */
export async function joinCluster(options: ClusterOptions): Promise<Cluster | undefined> {
  const { settings, shared, clock, logger } = options;
  const { address } = settings.cluster;
  if (address === undefined) return undefined;
  const url = new URL(address);
  const { host = url.hostname.replaceAll(/[[\]]/gu, '') } = settings.cluster;
  const port = settings.cluster.port || Number(url.port || 80);
  // While Redis is away, the others are asked about that; this needs the key.
  await shared.secret('peers');
  const proofs = new PeerProofs({ key: () => shared.secret('peers'), ownId: shared.members.own.id, clock });
  const calls = new ClusterCalls({ ...options, proofs });
  const server = await PeerServer.listen({ host, port, proofs, serve: (caller) => calls.serve(caller), clock, logger });
  logger.info(
    { address, host, port: server.port, member: shared.members.own.id },
    'this machine is one of several of its gateway',
  );
  return {
    calls,
    async [Symbol.asyncDispose]() {
      calls[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
