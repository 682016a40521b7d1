import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { CallAnswer } from '../../../src/call/admission/call-door.ts';
import { FrontChannel, type OrderHandlers } from '../../../src/hosts/front-channel.ts';
import { MediaProcess } from '../../../src/hosts/media-process.ts';
import type { Report } from '../../../src/hosts/protocol.ts';
import type { LiveCall } from '../../../src/call/admission/live-calls.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A child process without a process: what is sent to it arrives on the other side as JSON, in order, a turn later. */
export class ScriptedChild extends EventEmitter {
  connected = true;
  /** Whether its event loop stands still: nothing that is sent to it arrives. */
  deaf = false;
  readonly pid = 4711;
  readonly port = new EventEmitter();
  readonly channel: FrontChannel;

  constructor() {
    super();
    const send = (message: Report): boolean => {
      const text = JSON.stringify(message);
      setImmediate(() => this.emit('message', JSON.parse(text)));
      return true;
    };
    this.channel = new FrontChannel(Object.assign(this.port, { send, connected: true }));
  }

  send(message: object, _socket: unknown, _options: object, done: (error: Error | null) => void): boolean {
    const text = JSON.stringify(message);
    setImmediate(() => {
      done(null);
      if (this.connected && !this.deaf) this.port.emit('message', JSON.parse(text));
    });
    return true;
  }

  kill(): boolean {
    if (!this.connected) return false;
    this.connected = false;
    this.emit('exit', null, 'SIGKILL');
    return true;
  }
}

/** The calls of a scripted media process: it takes whatever it is asked to take. */
export class ScriptedMedia {
  readonly child = new ScriptedChild();
  readonly calls = new Map<string, string>();
  /** Our ids of calls that are dialled. */
  readonly reserved = new Set<string>();
  readonly told: string[] = [];
  readonly lanes: number[] = [];
  /** What it refuses every call with. */
  refusal: CallAnswer | undefined;
  /** Why it cannot load the bots. */
  badBots: Error | undefined;
  spareSlots: Readonly<Record<string, number>> | undefined;
  /** Held back until it resolves. */
  delay: Promise<void> | undefined;
  /** Its own ids of calls. */
  callIdOf = ({ carrierCallId }: { readonly carrier: string; readonly carrierCallId: string }): string =>
    `${this.#name} ${carrierCallId}`;
  readonly #name: string;
  #attachments = 0;

  constructor(name: string) {
    this.#name = name;
    this.child.channel.serve(this.#handlers());
  }

  report(report: Report): void {
    this.child.channel.report(report);
  }

  /** A call is over, as its process says it. */
  end(carrierCallId: string): void {
    const callId = this.calls.get(carrierCallId) ?? '';
    this.calls.delete(carrierCallId);
    this.report({ type: 'over', callId, carrierKey: `twilio ${carrierCallId}` });
  }

  /** The media of a call that was dialled has come. */
  begin(callId: string, carrierCallId: string): void {
    this.reserved.delete(callId);
    this.calls.set(carrierCallId, callId);
    this.report({ type: 'begun', callId, carrierKey: `twilio ${carrierCallId}` });
  }

  #accept(callId: string): CallAnswer {
    return { kind: 'accept', callId, attachmentId: `${callId} ${++this.#attachments}` };
  }

  #handlers(): OrderHandlers {
    const note = (what: string): null => {
      this.told.push(what);
      return null;
    };
    return {
      'spend-reached': ({ bots }) => note(`spend-reached ${bots.join(',')}`),
      answer: async ({ inbound, place: { lane } = { lane: 0 } }) => {
        await this.delay;
        if (this.refusal !== undefined) return this.refusal;
        const callId = this.callIdOf(inbound);
        this.calls.set(inbound.carrierCallId, callId);
        this.lanes.push(lane);
        return this.#accept(callId);
      },
      reserve: async ({ call: { callId }, place: { lane } }) => {
        await this.delay;
        if (this.refusal?.kind === 'refuse') return this.refusal;
        this.reserved.add(callId);
        this.lanes.push(lane);
        return { kind: 'reserved', attachmentId: `${callId} ${++this.#attachments}` };
      },
      release: ({ callId }) => {
        if (this.reserved.delete(callId)) this.report({ type: 'over', callId });
        return note(`release ${callId}`);
      },
      reported: ({ callId, report }) => note(`reported ${callId} ${report.progress?.state ?? report.witness}`),
      again: ({ carrierCallId }) => {
        const callId = this.calls.get(carrierCallId);
        return callId === undefined ? null : this.#accept(callId);
      },
      expect: ({ attachmentId }) => note(`expect ${attachmentId}`),
      abandon: ({ callId, attachmentId }) => note(`abandon ${callId} ${attachmentId}`),
      'key-reported': ({ carrierCallId, digit }) => note(`key-reported ${carrierCallId} ${digit}`),
      'carrier-ended': ({ carrierCallId }) => note(`carrier-ended ${carrierCallId}`),
      media: ({ grant }) => note(`media ${grant.callId}`),
      list: () => [...this.calls.values()].map(liveCall),
      find: ({ callId }) => (this.calls.size === 0 ? null : liveCall(callId)),
      order: ({ callId, order }) => {
        note(`${order.type} ${callId}`);
        return liveCall(callId);
      },
      follow: ({ callId }) => ({ number: 0, soFar: [{ atWallMs: 1, news: { type: 'ended', callId, reason: this.#name } }] }),
      listen: ({ order }) => {
        note(`listen ${order.callId}`);
        return { heardMs: 1, tookOverMs: 0 };
      },
      dismiss: ({ listenerId }) => note(`dismiss ${listenerId}`),
      unfollow: ({ callId }) => note(`unfollow ${callId}`),
      redeem: ({ token }) => (token === this.#name ? `value of ${token}` : null),
      metrics: () => [],
      'speech-failed': ({ service, vendor }) => note(`speech-failed ${service} ${vendor}`),
      'load-bots': () => {
        if (this.badBots !== undefined) throw this.badBots;
        return note('load-bots');
      },
      'use-bots': ({ spareSlots }) => {
        this.spareSlots = spareSlots;
        return note('use-bots');
      },
      'leg-addresses': ({ legId }) => note(`leg-addresses ${legId}`),
      'leg-refused': ({ legId }) => note(`leg-refused ${legId}`),
      drain: () => note('drain'),
    };
  }
}

/** The front's side of a scripted media process. */
export function processOf(
  media: ScriptedMedia,
  number: number,
  onReport: (report: Report) => void = () => undefined,
): MediaProcess {
  return new MediaProcess({
    number,
    child: media.child as unknown as ChildProcess,
    clock: new ManualClock(),
    logger: silentLogger,
    onReport,
  });
}

function liveCall(id: string): LiveCall {
  return {
    id,
    tenantId: 'default',
    bot: 'echo',
    carrier: 'twilio',
    from: '+1',
    to: '+2',
    direction: 'inbound',
    startedAtWallMs: 1,
    phase: 'listening',
    muted: false,
    turns: 0,
    callerText: '',
    botText: '',
    health: { holesMs: 0, lateMs: 0 },
  };
}

/** Lets everything that is on its way arrive. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
