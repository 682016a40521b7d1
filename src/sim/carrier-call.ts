import { errorText } from '../kernel/errors.ts';
import type { CarrierLine } from './carrier-line.ts';
import { reachedAddress } from './carrier-wire.ts';
import { CallRefused } from './errors.ts';
import type { PlaceOptions, SimulatedCarrierCall } from './simulated-carrier.ts';

/** How one call of a carrier comes about. */
export interface CallOptions extends PlaceOptions {
  /** Tells the gateway of the end, in place of the carrier's own report. */
  readonly tellEnd?: () => Promise<unknown>;
}

/** Why a call came to its end. */
export interface CallEnd {
  readonly by: 'caller' | 'gateway';
  /** What went wrong on the way, if anything: a redirect that failed, a stream that was refused. */
  readonly problem: Error | undefined;
}

const BY_GATEWAY: CallEnd = { by: 'gateway', problem: undefined };

/**
 * One call at a simulated carrier: its streams, what the carrier's voice said, whom it was passed on to, and its end. A carrier adds how
 * an answer is obeyed, and `tellEnd`.
 */
export abstract class CarrierCall<
  Line extends CarrierLine = CarrierLine,
  Options extends CallOptions = CallOptions,
> implements SimulatedCarrierCall {
  readonly carrierCallId: string;
  /** What the carrier's own voice said. */
  readonly said: string[] = [];
  /** Whom the call was connected to. */
  dialled: string | undefined;
  /** Every stream of the call so far. */
  readonly streams: Line[] = [];
  /** Resolves when the call is over and its end was told, or when it goes on with somebody else. Never rejects. */
  readonly ended: Promise<CallEnd>;
  protected readonly options: Options;
  protected isOver = false;
  readonly #digits: string[] = [];
  #end: (end: CallEnd) => void = () => undefined;

  /** @param carrierCallId where the options have none */
  constructor(options: Options, carrierCallId: string) {
    this.options = options;
    this.carrierCallId = options.carrierCallId ?? carrierCallId;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Tells the gateway that the call is over, as the carrier does where nothing else was ordered. */
  protected abstract tellEnd(): Promise<unknown>;

  /** Keys that the gateway pressed, by a message or a request. */
  get digits(): string[] {
    return this.#digits;
  }

  /** The latest media stream. @throws when there was none */
  get line(): Line {
    const line = this.streams.at(-1);
    if (line === undefined) throw new Error('the call has no media stream');
    return line;
  }

  /** The caller hangs up, or the call is ended over REST. */
  async hangUp(): Promise<void> {
    this.streams.at(-1)?.stop();
    await this.finish({ by: 'caller', problem: undefined });
  }

  /** The call is over at the carrier, once. */
  protected async finish(end = BY_GATEWAY): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    // A gateway that is gone is told nothing; the carrier does not care.
    await (this.options.tellEnd?.() ?? this.tellEnd()).catch(() => undefined);
    this.#end(end);
  }

  /** The call goes on with somebody else: nothing is told. */
  protected passOn(): void {
    this.#end(BY_GATEWAY);
  }

  /** Keeps a stream that was opened; one of a call that is over meanwhile is stopped. */
  protected opened(line: Line): Line {
    this.streams.push(line);
    if (this.isOver) line.stop();
    return line;
  }

  /** Obeys an answer that is to open a stream. @throws CallRefused when none opens; where something failed, the call is over then */
  protected async begin(obey: () => Promise<unknown>, none = 'the document opens no stream'): Promise<Line> {
    const before = this.streams.length;
    try {
      await obey();
    } catch (error) {
      const problem = error instanceof CallRefused ? error : new CallRefused(errorText(error), this.said, error);
      await this.finish({ by: 'gateway', problem });
      throw problem;
    }
    if (this.isOver) this.streams.at(-1)?.stop();
    if (this.streams.length > before) return this.line;
    throw new CallRefused(none, this.said);
  }

  /** Where the carrier asks for an answer. */
  protected voicePath(carrier: string): string {
    return gatewayPath(carrier, 'voice', this.options);
  }

  /** Posts to the gateway. @param address in full, or below the gateway's */
  protected async ask(address: string, request: RequestInit): Promise<{ readonly status: number; readonly body: string }> {
    const response = await fetch(reachedAddress(new URL(address, this.options.url).href, this.options), {
      method: 'POST',
      ...request,
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, body: await response.text() };
  }
}

/** A call that is its media stream, and ends with it. */
export class StreamCall<Line extends CarrierLine = CarrierLine> implements SimulatedCarrierCall {
  readonly carrierCallId: string;
  readonly line: Line;
  readonly said: readonly string[] = [];
  readonly digits: readonly string[] = [];
  readonly ended: Promise<unknown>;
  #dialled: string | undefined;

  constructor(carrierCallId: string, line: Line) {
    this.carrierCallId = carrierCallId;
    this.line = line;
    this.ended = line.ended;
  }

  get dialled(): string | undefined {
    return this.#dialled;
  }

  set dialled(to: string | undefined) {
    this.#dialled = to;
  }

  async hangUp(): Promise<void> {
    this.line.stop();
    await this.ended;
  }
}

/** Where a carrier asks for an answer, or opens the media socket of a call that is no more than that; below the gateway's address. */
export function gatewayPath(carrier: string, what: 'voice' | 'media', { bot }: Pick<PlaceOptions, 'bot'>): string {
  return `/carriers/${carrier}/${what}${bot === undefined ? '' : `/${encodeURIComponent(bot)}`}`;
}

/** The address of such a media socket. @param query with its question mark */
export function mediaAddress(carrier: string, options: PlaceOptions, query = ''): string {
  const address = options.url + gatewayPath(carrier, 'media', options) + query;
  return reachedAddress(address.replace(/^http/iu, 'ws'), options);
}

/** @throws CallRefused for a media socket that the gateway did not take */
export function refusedSocket(error: unknown): never {
  throw new CallRefused(`the media socket was refused: ${errorText(error)}`, [], error);
}
