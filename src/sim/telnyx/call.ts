import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import type { LineOptions } from '../carrier-line.ts';
import { openWebSocket, reachedAddress } from '../carrier-wire.ts';
import type { SimulatedCarrierCall } from '../simulated-carrier.ts';
import { type LegCodec, SimulatedTelnyxStream, type StreamRequest } from './stream.ts';

/** Signs a webhook's body. @returns its headers */
export type TelnyxSigner = (body: string) => Readonly<Record<string, string>>;

export interface TelnyxCallOptions {
  readonly clock: Clock;
  readonly sign: TelnyxSigner;
  /** Where all events of the call go. */
  readonly webhookUrl: string;
  /** Where the gateway is reached all the same. */
  readonly reached?: { readonly url: string; readonly connectTo?: string | undefined };
  readonly direction: 'incoming' | 'outgoing';
  readonly from: string;
  readonly to: string;
  readonly carrierCallId?: string | undefined;
  readonly clientState?: string | undefined;
  readonly leg?: LegCodec;
  readonly stream?: LineOptions | undefined;
}

/** What a command is answered with; 200 with `result: ok` where absent. */
export type CommandRefusal = { readonly status: number; readonly code: string; readonly message: string } | undefined;

/** One event of a call, as its webhooks and `GET /v2/call_events` have it. */
export interface TelnyxCallEvent {
  readonly name: string;
  readonly atWallMs: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

const OVER = { status: 422, code: '90018', message: 'Call has already ended' } as const;
const NOT_ANSWERED = { status: 422, code: '90034', message: 'Call not answered yet' } as const;

export const streamSchema = z.looseObject({
  stream_url: z.url({ protocol: /^wss?$/ }),
  stream_track: z.enum(['inbound_track', 'outbound_track', 'both_tracks']).default('inbound_track'),
  stream_bidirectional_mode: z.enum(['mp3', 'rtp']).default('mp3'),
  stream_bidirectional_codec: z.enum(['PCMU', 'PCMA', 'G722', 'OPUS', 'AMR-WB', 'L16']).default('PCMU'),
  stream_bidirectional_sampling_rate: z.literal([8000, 16_000, 22_050, 24_000, 48_000]).default(8000),
  stream_auth_token: z.string().max(4000).default(''),
});
const common = z.looseObject({ client_state: z.base64().optional(), command_id: z.string().min(1).optional() });
const speakBody = z.looseObject({
  payload: z.string().min(1).max(3000),
  voice: z.string().min(1),
  language: z.string().optional(),
});
const transferBody = z.looseObject({ to: z.string().min(1), target_leg_client_state: z.base64().optional() });
const digitsBody = z.looseObject({ digits: z.string().regex(/^[0-9A-D*#wW]+$/u) });

/** One call leg of Telnyx' Call Control: its events are told, and it does what commands say. */
export class SimulatedTelnyxCall implements SimulatedCarrierCall {
  readonly carrierCallId: string;
  readonly callLegId = randomUUID();
  readonly callSessionId = randomUUID();
  /** What the carrier's own voice said. */
  readonly said: string[] = [];
  readonly digits: string[] = [];
  readonly events: TelnyxCallEvent[] = [];
  dialled: string | undefined;
  /** What webhooks of the leg that the call was passed on to bring along. */
  targetLegState: string | undefined;
  readonly streams: SimulatedTelnyxStream[] = [];
  /** Why no stream came, where one was asked for. */
  streamProblem: string | undefined;
  /** Resolves when the call is over, or was connected to somebody else. */
  readonly ended: Promise<void>;
  readonly #options: TelnyxCallOptions;
  readonly #commands = new Set<string>();
  readonly #watchers = new Set<() => void>();
  #clientState: string | undefined;
  #state: 'initiated' | 'answered' | 'over' = 'initiated';
  #opening: Promise<unknown> = Promise.resolve();
  #told: Promise<unknown> = Promise.resolve();
  #end: () => void = () => undefined;

  constructor(options: TelnyxCallOptions) {
    this.#options = options;
    this.carrierCallId = options.carrierCallId ?? `v3:${randomUUID()}`;
    this.#clientState = options.clientState;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The latest media stream. @throws when there was none */
  get line(): SimulatedTelnyxStream {
    const line = this.streams.at(-1);
    if (line === undefined) throw new Error('the call has no media stream');
    return line;
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Tells one event, each after the one before. Rejects where the gateway does not take it. */
  tell(name: string, more: Readonly<Record<string, unknown>> = {}, to = this.#options.webhookUrl): Promise<void> {
    const { clock, from, to: callee, reached } = this.#options;
    const payload = {
      call_control_id: this.carrierCallId,
      call_leg_id: this.callLegId,
      call_session_id: this.callSessionId,
      connection_id: '2811212257810187875',
      client_state: this.#clientState ?? null,
      from,
      to: callee,
      ...more,
    };
    const at = clock.wallMs();
    this.events.push({ name, atWallMs: at, payload });
    const event = { event_type: name, id: randomUUID(), occurred_at: new Date(at).toISOString(), payload, record_type: 'event' };
    const address = reached === undefined ? to : reachedAddress(to, reached);
    const telling = this.#told.then(async () => {
      const body = JSON.stringify({ data: event, meta: { attempt: 1, delivered_to: to } });
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...this.#options.sign(body) },
        body,
        signal: AbortSignal.timeout(15_000),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${name} was answered with ${response.status}`);
    });
    this.#told = telling.catch(() => undefined);
    return telling;
  }

  /** Resolves when something may have changed that `isSo` looks at, and it is so. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#watchers.add(resolve));
  }

  /** Obeys one command; what it causes is told afterwards. */
  command(verb: string, body: unknown): CommandRefusal {
    const { client_state: state, command_id: id } = common.catch({}).parse(body);
    if (this.#state === 'over') return OVER;
    if (id !== undefined && this.#commands.has(id)) return undefined;
    const refusal = this.#obey(verb, body, state);
    if (refusal === undefined && id !== undefined) this.#commands.add(id);
    return refusal;
  }

  #obey(verb: string, body: unknown, state: string | undefined): CommandRefusal {
    const remember = (): void => {
      this.#clientState = state ?? this.#clientState;
    };
    if (verb === 'hangup') {
      remember();
      void this.finish(this.#state === 'answered' ? 'normal_clearing' : 'originator_cancel');
      return undefined;
    }
    if (verb === 'answer') {
      if (this.#options.direction !== 'incoming')
        return { status: 422, code: '90015', message: 'Only incoming calls are answered' };
      const stream = streamSchema.safeParse(body);
      if (isStreamAsked(body) && !stream.success) return invalid(stream.error);
      remember();
      this.answer(stream.success ? streamRequest(stream.data) : undefined);
      return undefined;
    }
    return this.#state === 'answered' ? this.#obeyAnswered(verb, body, remember) : NOT_ANSWERED;
  }

  #obeyAnswered(verb: string, body: unknown, remember: () => void): CommandRefusal {
    switch (verb) {
      case 'speak': {
        const parsed = speakBody.safeParse(body);
        if (!parsed.success) return invalid(parsed.error);
        remember();
        this.said.push(parsed.data.payload);
        void this.tell('call.speak.started').catch(() => undefined);
        void this.tell('call.speak.ended', { status: 'completed' }).catch(() => undefined);
        return undefined;
      }
      case 'send_dtmf': {
        const parsed = digitsBody.safeParse(body);
        if (!parsed.success) return invalid(parsed.error);
        this.digits.push(parsed.data.digits);
        return undefined;
      }
      case 'transfer': {
        const parsed = transferBody.safeParse(body);
        if (!parsed.success) return invalid(parsed.error);
        remember();
        this.dialled = parsed.data.to;
        this.targetLegState = parsed.data.target_leg_client_state;
        return undefined;
      }
      case 'bridge':
        remember();
        this.dialled = z.looseObject({ call_control_id: z.string() }).parse(body).call_control_id;
        return undefined;
      case 'streaming_start': {
        const parsed = streamSchema.safeParse(body);
        if (!parsed.success) return invalid(parsed.error);
        if (this.streams.at(-1)?.open === true) return { status: 422, code: '90046', message: 'The call is streamed already' };
        remember();
        void this.openStream(streamRequest(parsed.data)).then((stream) => stream?.answered());
        return undefined;
      }
      case 'streaming_stop':
        remember();
        this.streams.at(-1)?.stop();
        if (this.dialled !== undefined) this.#end();
        return undefined;
      default:
        return { status: 404, code: '10005', message: 'Resource not found' };
    }
  }

  /** The call is answered, by a command or by whoever was called. */
  answer(request: StreamRequest | undefined, tells = true): void {
    if (this.#state !== 'initiated') return;
    this.#state = 'answered';
    if (tells) void this.tell('call.answered').catch(() => undefined);
    if (request !== undefined) void this.openStream(request).then((stream) => stream?.answered());
    this.#changed();
  }

  /** Opens the media socket, which may be before the call is answered. Never rejects. */
  openStream(request: StreamRequest): Promise<SimulatedTelnyxStream | undefined> {
    const opening = this.#open(request);
    this.#opening = opening;
    return opening;
  }

  async #open(request: StreamRequest): Promise<SimulatedTelnyxStream | undefined> {
    const { clock, from, to, leg = 'PCMA', stream: options, reached } = this.#options;
    const { carrierCallId: callControlId, callSessionId } = this;
    const url = reached === undefined ? request.url : reachedAddress(request.url, reached);
    try {
      const wire = await openWebSocket(url, { headers: { 'x-telnyx-streaming-auth-token': request.authToken } });
      const stream = new SimulatedTelnyxStream(wire, request, { callControlId, callSessionId, from, to, leg }, clock, options);
      this.streams.push(stream);
      if (this.#state === 'over') stream.drop();
      void this.tell('streaming.started', { stream_id: stream.streamId }).catch(() => undefined);
      // The call goes on without its stream.
      void stream.ended.then(() => {
        if (this.#state !== 'over') void this.tell('streaming.stopped').catch(() => undefined);
      });
    } catch (error) {
      this.streamProblem = String(error);
      void this.tell('streaming.failed', { failure_reason: 'connection_failed' }).catch(() => undefined);
    }
    this.#changed();
    return this.streams.at(-1);
  }

  /** The caller hangs up. */
  hangUp(): Promise<void> {
    return this.finish('normal_clearing');
  }

  /** @param tells whether the end is told here; not where somebody else does */
  async finish(cause: string, sip = 'unspecified', tells = true): Promise<void> {
    if (this.#state === 'over') return;
    const wasAnswered = this.#state === 'answered';
    this.#state = 'over';
    await this.#opening;
    if (wasAnswered) this.streams.at(-1)?.stop();
    else this.streams.at(-1)?.drop();
    this.#changed();
    if (tells)
      await this.tell('call.hangup', { hangup_cause: cause, hangup_source: 'caller', sip_hangup_cause: sip }).catch(
        () => undefined,
      );
    this.#end();
  }

  #changed(): void {
    for (const resolve of this.#watchers) resolve();
    this.#watchers.clear();
  }
}

function isStreamAsked(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'stream_url' in body;
}

export function streamRequest(body: z.output<typeof streamSchema>): StreamRequest {
  return {
    url: body.stream_url,
    mode: body.stream_bidirectional_mode,
    codec: body.stream_bidirectional_codec,
    rateHz: body.stream_bidirectional_sampling_rate,
    authToken: body.stream_auth_token,
  };
}

function invalid(error: z.ZodError): CommandRefusal {
  return { status: 422, code: '10015', message: z.prettifyError(error) };
}
