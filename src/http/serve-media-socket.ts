import { formatName } from '../audio/format.ts';
import type { MediaConnection } from '../carriers/media-connection.ts';
import { acceptMediaSocket } from '../carriers/media-socket.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallIntake, ExpectedMedia } from './intake.ts';

export interface MediaServingDeps {
  readonly intake: Pick<CallIntake, 'attach'>;
  readonly expected: Pick<ExpectedMedia, 'arrived' | 'abandon'>;
  readonly clock: Clock;
  readonly events: BusinessEvents;
  readonly logger: Logger;
  readonly carriers: OpenCarriers;
}

/** An admitted connection, upgraded if it is a WebSocket. */
export interface GrantedSocket {
  readonly connection: MediaConnection;
  readonly grant: StreamGrant;
  readonly address: string;
  /** Called once, when the media has started or was given up. */
  readonly settled: () => void;
}

/** Waits for a media socket's start and passes it to its call. */
export function serveMediaSocket(deps: MediaServingDeps, { connection, grant, address, settled }: GrantedSocket): void {
  const { carrier, carrierCallId, callId, attachmentId } = grant;
  const open = deps.carriers.get(carrier);
  // A grant names the carrier of its address.
  if (open === undefined) throw new TypeError(`there is no carrier ${carrier}`);
  acceptMediaSocket({
    connection,
    carrier,
    capabilities: open.carrier.capabilities,
    codec: open.codec(),
    clock: deps.clock,
    events: deps.events,
    callId,
    attachmentId,
    carrierCallId,
    startTimeoutMs: open.startTimeoutMs,
    onStarted(attachment) {
      settled();
      if (!deps.expected.arrived(attachmentId)) {
        attachment.close('no longer expected');
        return;
      }
      const { streamId, inbound, outbound } = attachment.started;
      const formats = { inbound: formatName(inbound), outbound: formatName(outbound) };
      deps.events.attached({ carrier, callId, attachmentId, streamId, ...formats });
      deps.intake.attach(callId, attachment);
    },
    // A fault in one call ends that call only.
    onFault: (error) => deps.logger.error({ error, carrier, callId, attachmentId }, 'call failed on a media event'),
    onAbandoned(reason) {
      settled();
      deps.events.streamRefused({ carrier, reason: 'not-started', status: 101, callId, address });
      deps.expected.abandon(attachmentId, reason);
    },
  });
}
