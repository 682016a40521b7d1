import { Buffer } from 'node:buffer';
import { WebSocketConnection } from '../carriers/media-connection.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { GivenSockets } from './given-sockets.ts';
import type { MediaUpgrade } from './intake.ts';
import { type MediaServingDeps, serveMediaSocket } from './serve-media-socket.ts';
import { serveTcpMedia } from './tcp-media.ts';

export interface GivenMediaDeps extends MediaServingDeps {
  readonly sockets: GivenSockets;
}

/**
 * Serves media admitted by another process or machine.
 * @returns resolves when the media has started or was given up
 */
export function serveGivenMedia(
  deps: GivenMediaDeps,
  grant: StreamGrant,
  { socket, transport, headers, early, answered, address }: MediaUpgrade,
): Promise<void> {
  const first = Buffer.from(early);
  return new Promise((settled) => {
    if (transport === 'tcp') return serveTcpMedia(deps, { socket, early: first, grant, address, settled });
    const refused = (): void => {
      deps.expected.abandon(grant.attachmentId, 'the socket was closed before it was upgraded');
      settled();
    };
    deps.sockets.upgrade(
      socket,
      { headers, early: first, answered },
      (opened) => serveMediaSocket(deps, { connection: new WebSocketConnection(opened, socket), grant, address, settled }),
      refused,
    );
  });
}
