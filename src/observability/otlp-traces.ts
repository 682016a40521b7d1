import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import type { IdGenerator, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Secret } from '../config/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import { dialogSpanOf, isSampled, sendTraceContext, spanOf, type SpanIds } from './trace-context.ts';
import { modelAttributes, toolAttributes } from './gen-ai.ts';
import { type ModelCall, sendModelSpans, type ToolUse } from './model-spans.ts';
import { within } from '../kernel/waiting.ts';
import { warnThrottled } from './log-throttle.ts';
import type { Logger } from './logger.ts';
import type { Traces } from './traces.ts';

export interface OtlpTracesOptions {
  readonly endpoint: string;
  readonly serviceName: string;
  /** Share of calls that are traced, 0 to 1. */
  readonly ratio: number;
  /** Whether spans of models have what was said. */
  readonly words: boolean;
  /** `name=value`, several separated by commas. */
  readonly headers: Secret | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const EXPORT_WITHIN_MS = 5_000;
const CLOSE_WITHIN_MS = 3_000;
/** About 300 turns. Beyond it the SDK drops spans: a collector that is away costs no more memory. */
const MOST_WAITING = 2_048;

interface MadeSpan {
  readonly ids: SpanIds;
  readonly parent?: SpanIds;
  readonly name: string;
  readonly kind?: SpanKind;
  readonly fromWallMs: number;
  readonly toWallMs: number;
  readonly attributes?: Attributes;
  readonly links?: Link[];
}

/** Exports spans by OTLP over HTTP, as JSON. Each span is made whole, after what it is about is over. */
export class OtlpTraces implements Traces {
  readonly #clock: Clock;
  readonly #ratio: number;
  readonly #ids = new GivenIds();
  readonly #random = new RandomIdGenerator();
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor({ endpoint, serviceName, ratio, words, headers, clock, logger }: OtlpTracesOptions) {
    this.#clock = clock;
    this.#ratio = ratio;
    const url = /\/v1\/traces\/?$/u.test(endpoint) ? endpoint : `${endpoint.replace(/\/+$/u, '')}/v1/traces`;
    const otlp = new OTLPTraceExporter({ url, headers: readHeaders(headers), timeoutMillis: EXPORT_WITHIN_MS });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName }),
      sampler: new AlwaysOnSampler(),
      idGenerator: this.#ids,
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: told(otlp, warnThrottled(logger, clock, 'traces not exported')),
          maxQueueSize: MOST_WAITING,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('offhook');
    sendModelSpans({ words, model: (call) => this.#model(call), tool: (use) => this.#tool(use) });
  }

  turn({ callId, index, inputKind, stages }: Parameters<Traces['turn']>[0]): void {
    const parent = spanOf(callId);
    if (!isSampled(parent.traceId, this.#ratio)) return;
    // The timeline has the monotonic clock.
    const shiftMs = this.#clock.wallMs() - this.#clock.nowMs();
    const turn = spanOf(callId, `turn ${index}`);
    const nowMs = this.#clock.nowMs();
    this.#make({
      ids: turn,
      parent,
      name: 'turn',
      fromWallMs: shiftMs + Math.min(nowMs, ...stages.map(({ fromMs }) => fromMs)),
      toWallMs: shiftMs + nowMs,
      attributes: { 'offhook.turn.index': index, 'offhook.turn.input': inputKind },
    });
    for (const { name, fromMs, toMs } of stages) {
      const ids = name === 'dialog' ? dialogSpanOf(callId, index) : spanOf(callId, `turn ${index} ${name}`);
      this.#make({ ids, parent: turn, name, fromWallMs: shiftMs + fromMs, toWallMs: shiftMs + toMs });
    }
  }

  call({ callId, carrier, bot, outcome, durationMs, turns }: Parameters<Traces['call']>[0]): void {
    const ids = spanOf(callId);
    if (!isSampled(ids.traceId, this.#ratio)) return;
    const toWallMs = this.#clock.wallMs();
    this.#make({
      ids,
      name: 'call',
      kind: SpanKind.SERVER,
      fromWallMs: toWallMs - durationMs,
      toWallMs,
      attributes: {
        'offhook.call.id': callId,
        'offhook.carrier': carrier,
        'offhook.bot': bot,
        'offhook.outcome': outcome,
        'offhook.turns': turns,
      },
    });
  }

  job({ job, callId, durationMs, outcome }: Parameters<Traces['job']>[0]): void {
    const call = callId === undefined ? undefined : spanOf(callId);
    const ids = { traceId: this.#random.generateTraceId(), spanId: this.#random.generateSpanId() };
    // A job goes with its call; others are sampled by themselves.
    if (!isSampled((call ?? ids).traceId, this.#ratio)) return;
    const toWallMs = this.#clock.wallMs();
    this.#make({
      ids,
      name: `job ${job}`,
      kind: SpanKind.CONSUMER,
      fromWallMs: toWallMs - durationMs,
      toWallMs,
      attributes: {
        'offhook.job': job,
        'offhook.job.outcome': outcome,
        ...(callId === undefined ? {} : { 'offhook.call.id': callId }),
      },
      links: call === undefined ? [] : [{ context: contextOf(call) }],
    });
  }

  async close(): Promise<void> {
    sendTraceContext(undefined);
    sendModelSpans(undefined);
    // The exporter's own failures are logged.
    await within(this.#clock, CLOSE_WITHIN_MS, this.#provider.shutdown(), undefined).catch(() => undefined);
  }

  #model(call: ModelCall): void {
    this.#inDialog(call, `chat ${call.model}`, SpanKind.CLIENT, modelAttributes(call));
  }

  #tool(use: ToolUse): void {
    this.#inDialog(use, `execute_tool ${use.name}`, SpanKind.INTERNAL, toolAttributes(use));
  }

  /** A part of a turn's dialog: one of several requests and tools of the same turn. */
  #inDialog(
    { callId, turn, fromWallMs, toWallMs }: ModelCall | ToolUse,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
  ): void {
    const parent = dialogSpanOf(callId, turn);
    if (!isSampled(parent.traceId, this.#ratio)) return;
    const ids = { traceId: parent.traceId, spanId: this.#random.generateSpanId() };
    this.#make({ ids, parent, name, kind, fromWallMs, toWallMs, attributes });
  }

  #make({ ids, parent, name, kind = SpanKind.INTERNAL, fromWallMs, toWallMs, attributes = {}, links = [] }: MadeSpan): void {
    this.#ids.next = ids;
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
    this.#tracer.startSpan(name, { kind, startTime: fromWallMs, attributes, links }, context).end(Math.max(fromWallMs, toWallMs));
  }
}

/** Gives the next span the ids that it is known by. */
class GivenIds implements IdGenerator {
  next: SpanIds = { traceId: '', spanId: '' };
  readonly generateTraceId = (): string => this.next.traceId;
  readonly generateSpanId = (): string => this.next.spanId;
}

function contextOf(ids: SpanIds): SpanContext {
  return { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** An exporter that tells of its failures, which the SDK keeps to itself. */
function told(exporter: SpanExporter, onFailure: (error: Error) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onFailure(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** Reads `name=value,name=value`, values percent-encoded, as of `OTEL_EXPORTER_OTLP_HEADERS`. */
function readHeaders(text: Secret | undefined): Record<string, string> {
  const pairs = (text?.reveal() ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
