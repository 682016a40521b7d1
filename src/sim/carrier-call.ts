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
    const { bot } = this.options;
    return `/carriers/${carrier}/voice${bot === undefined ? '' : `/${encodeURIComponent(bot)}`}`;
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
