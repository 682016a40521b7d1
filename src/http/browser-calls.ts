import type { OpenCarriers } from '../carriers/open-carriers.ts';
import type { RefusalCause } from '../observability/metrics.ts';
import { answerCall, type AnswerDeps } from './answer-call.ts';
import { RequestRefused } from './problem.ts';
import type { StreamAddresses } from './stream-addresses.ts';

export interface BrowserCallsDeps extends Omit<AnswerDeps, 'mediaWithinMs'> {
  readonly carriers: OpenCarriers;
  readonly streams: Pick<StreamAddresses, 'forAnswer' | 'mediaWithinMs'>;
}

/** The caller and the bot of a browser call. */
export interface BrowserCaller {
  /** Made up by the client for this call; serves as the carrier's id. */
  readonly carrierCallId: string;
  /** The default bot when absent. */
  readonly botName: string | undefined;
  /** Shown as the caller's number. */
  readonly from: string;
  /** The version of the bot that is tried out; see `InboundCall`. */
  readonly rehearses?: string | undefined;
  /** Time for the page to open its socket and start; the carrier's when absent. */
  readonly answerWithinMs?: number;
}

/** A browser call that may begin now. */
export interface BrowserCall {
  readonly callId: string;
  /** `wss`, or `ws` on loopback, with a single-use token in its path. */
  readonly streamUrl: string;
  /** ISO 8601; the socket must be opened before. */
  readonly expiresAt: string;
}

/** Part of the answer time reserved for the start message after the token has expired. */
const START_MS = 2000;

/** Refusals a person can act on; others are internal. */
const WHY: Partial<Record<RefusalCause, string>> = {
  'no-bot': 'No bot of this name is here; or none was named, and none is the default.',
  calls: 'All places for calls are taken: try again when one has ended (call.maximum).',
  'loop-lag': 'The gateway is too busy for another call: try again in a moment.',
  'speech-down': 'The speech platform does not answer, so that the bot could neither hear nor speak.',
  'speech-slots': 'The speech platform has no slot left for another call: try again when a call has ended.',
  process: 'No process that has calls is up: try again in a moment.',
  stopping: 'The gateway is stopping: it takes no new call.',
};

/** Calls from pages: admitted like any other call, and given a media socket's address. */
export class BrowserCalls {
  readonly #deps: BrowserCallsDeps;
  readonly #carrier: string;
  readonly #tokenMs: number;

  private constructor(deps: BrowserCallsDeps, carrier: string, tokenMs: number) {
    this.#deps = deps;
    this.#carrier = carrier;
    this.#tokenMs = tokenMs;
  }

  /** @returns undefined where no carrier takes browser calls */
  static from(deps: BrowserCallsDeps): BrowserCalls | undefined {
    for (const { carrier, door } of deps.carriers.values())
      if (door.kind === 'page') return new BrowserCalls(deps, carrier.name, door.streamTokenMs);
    return undefined;
  }

  /** Name of the carrier. */
  get carrier(): string {
    return this.#carrier;
  }

  /** @throws RequestRefused 503 for a refused call; 409 for a call that has its socket */
  async begin(
    { carrierCallId, botName, from, rehearses, answerWithinMs }: BrowserCaller,
    requestId: string,
  ): Promise<BrowserCall> {
    const { streams, clock } = this.#deps;
    const tokenMs = Math.min(this.#tokenMs, (answerWithinMs ?? Number.POSITIVE_INFINITY) - START_MS);
    const mediaWithinMs = answerWithinMs ?? streams.mediaWithinMs(this.#carrier, tokenMs);
    const inbound = { carrier: this.#carrier, carrierCallId, from, to: '', direction: 'inbound', botName, rehearses } as const;
    const expiresAt = new Date(clock.wallMs() + tokenMs).toISOString();
    const answer = await answerCall({ ...this.#deps, mediaWithinMs }, inbound, requestId, async (grant) => {
      const { streamUrl } = await streams.forAnswer(grant, tokenMs);
      return { callId: grant.callId, streamUrl, expiresAt };
    });
    if (answer.kind === 'taken') return answer.made;
    if (answer.kind === 'attached') throw new RequestRefused(409, 'This call has its media socket.');
    throw new RequestRefused(
      503,
      (answer.kind === 'refused' ? WHY[answer.cause] : undefined) ??
        'The call could not be begun; the log of the gateway says why.',
    );
  }
}
