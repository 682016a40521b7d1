import { type WireEvent, maxMessageBytes } from '../carriers/media-codec.ts';
import { WebSocketConnection } from '../carriers/media-connection.ts';
import type { InboundCall } from '../carriers/port.ts';
import { closeUnserved, firstMessages } from './first-messages.ts';
import { LentWrites } from '../kernel/websocket/lent-writes.ts';
import { answerCall, type AnswerDeps, endRefused } from './answer-call.ts';
import type { GivenSockets } from './given-sockets.ts';
import type { ExpectedMedia, MediaElsewhere, MediaUpgrade } from './intake.ts';
import { type MediaServingDeps, serveMediaSocket } from './serve-media-socket.ts';

export interface AtStartDeps extends Omit<AnswerDeps, 'expected'>, MediaServingDeps {
  readonly intake: AnswerDeps['intake'];
  readonly expected: ExpectedMedia;
  /** Name of the carrier. */
  readonly carrier: string;
  /** The processes that serve media; this one when absent. */
  readonly elsewhere: MediaElsewhere | undefined;
  /** Upgrades sockets that were read before. */
  readonly given: GivenSockets;
}

export interface AtStartSocket extends MediaUpgrade {
  /** What is known of the call before its start, used where the start says nothing. */
  readonly known: Pick<InboundCall, 'botName' | 'mode'> & Partial<Pick<InboundCall, 'from' | 'to'>>;
  readonly requestId: string;
  /** Called once, when the media has started or was given up. */
  readonly settled: () => void;
}

/** A proven but silent socket is closed after this time. */
export const SILENT_MS = 5000;
/** Audio may come before the start: a second of wideband, in base64. */
const MOST_EARLY_BYTES = 4 * maxMessageBytes;
/** Time to wait for the close of a connection test, … */
const PROBE_MS = 30_000;
/** … and of a refused socket. */
const REFUSED_MS = 5_000;
/** RFC 6455, 7.4.1: policy. */
const POLICY = 1008;

const nowhere = { room: (length: number): Uint8Array => Buffer.alloc(length), send: () => undefined, sendText: () => undefined };

/**
 * Serves a media socket whose start names its call: reads that far, asks for the call, and passes the socket with all bytes to the process with the
 * call, where it is read again from the first byte. Never rejects.
 */
export async function serveAtStart(deps: AtStartDeps, upgrade: AtStartSocket): Promise<void> {
  const { carrier, events, logger, clock } = deps;
  const { socket, headers, address, known, settled } = upgrade;
  const refused = (reason: string): void => events.streamRefused({ carrier, reason, status: 101, address });
  const refuse = (reason: string): void => {
    settled();
    refused(reason);
    closeUnserved(socket);
  };
  const release = deps.given.hold(socket);
  try {
    const open = deps.carriers.get(carrier);
    if (open === undefined) throw new TypeError(`there is no carrier ${carrier}`);
    const codec = open.codec();
    const { early } = upgrade;
    const withinMs = { silent: Math.min(SILENT_MS, open.startTimeoutMs), whole: open.startTimeoutMs };
    const first = await firstMessages(
      { socket, headers, early, clock, withinMs, mostBytes: MOST_EARLY_BYTES },
      (message, isBinary) => decisive(codec.read(message, isBinary, nowhere)),
    );
    if ('problem' in first) {
      logger.info({ carrier, address, problem: first.problem }, 'media socket ended before its start');
      return refuse('not-started');
    }
    const { found } = first;
    if (found.type === 'rejected') {
      logger.warn({ carrier, address, problem: found.problem }, 'media socket has a start that cannot be used');
      refused('not-started');
      return answerWithoutCall(deps, upgrade, first.early(), found.problem);
    }
    if (found.type === 'probe') return answerWithoutCall(deps, upgrade, first.early());
    const { carrierCallId, call } = found;
    if (carrierCallId === undefined) {
      refused('no-call');
      return answerWithoutCall(deps, upgrade, first.early(), 'start names no call');
    }
    // A start without numbers does not contradict known ones.
    const numbers = { from: call?.from || known.from || '', to: call?.to || known.to || '' };
    const inbound: InboundCall = { direction: 'inbound', ...known, ...call, ...numbers, carrier, carrierCallId };
    const answering = { ...deps, expected: deps.elsewhere ?? deps.expected };
    const answer = await answerCall(answering, inbound, upgrade.requestId, (grant) => grant);
    if (answer.kind !== 'taken') {
      refused(answer.kind === 'attached' ? 'attached' : 'call-refused');
      if (answer.kind === 'refused') endRefused(deps, inbound);
      const why = answer.kind === 'refused' ? `the call is refused: ${answer.cause}` : 'the call has its media socket';
      return answerWithoutCall(deps, upgrade, first.early(), why);
    }
    const grant = answer.made;
    if (deps.elsewhere !== undefined) {
      release();
      await deps.elsewhere
        .take(grant, { socket, headers, early: first.early('leaving'), answered: true, address })
        .finally(settled);
      return;
    }
    deps.given.upgrade(
      socket,
      { headers, early: first.early(), answered: true },
      (opened) => serveMediaSocket(deps, { connection: new WebSocketConnection(opened, socket), grant, address, settled }),
      () => {
        settled();
        deps.expected.abandon(grant.attachmentId, 'the socket was closed before its call was taken');
      },
    );
  } catch (error) {
    logger.warn({ carrier, error }, 'serving a media socket failed');
    refuse('failed');
  }
}

type Decisive = Extract<WireEvent, { type: 'started' | 'probe' | 'rejected' }>;

function decisive(event: WireEvent): Decisive | undefined {
  if (event.type === 'started' || event.type === 'probe') return event;
  return event.type === 'rejected' && event.fatal === true ? event : undefined;
}

/** Answers as the protocol requires, without making a call. @param refusal why not; undefined for a connection test */
function answerWithoutCall(
  deps: AtStartDeps,
  { socket, headers, settled }: AtStartSocket,
  early: Buffer,
  refusal?: string,
): void {
  const codec = deps.carriers.get(deps.carrier)?.codec();
  deps.given.upgrade(
    socket,
    { headers, early, answered: true },
    (opened) => {
      const writes = new LentWrites(opened, socket, false);
      const timer = deps.clock.after(refusal === undefined ? PROBE_MS : REFUSED_MS, () => opened.terminate());
      let isRefused = false;
      opened.on('message', (data: Buffer, isBinary) => {
        const event = codec?.read(data, isBinary, writes);
        if (event?.type === 'stopped') opened.close(1000);
        if (refusal === undefined || isRefused || event === undefined || decisive(event) === undefined) return;
        isRefused = true;
        if (codec?.goodbye?.(refusal, writes, true) !== 'wait') opened.close(POLICY);
      });
      opened.on('error', () => undefined);
      opened.once('close', () => {
        timer.cancel();
        settled();
      });
    },
    settled,
  );
}
