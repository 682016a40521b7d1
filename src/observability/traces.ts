import type { Secret } from '../config/secrets.ts';
import type { Settings } from '../config/schema.ts';
import type { Clock } from '../kernel/clock.ts';
import { sendTraceContext } from './trace-context.ts';
import type { Logger } from './logger.ts';

/** One stage of a turn, on the gateway's monotonic clock. */
export interface TurnStage {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The spans of calls and jobs. They carry ids, counts and names of the configuration; words of a model only where the settings allow it. */
export interface Traces {
  /** A turn is over. */
  turn(turn: { callId: string; index: number; inputKind: string; stages: readonly TurnStage[] }): void;
  call(call: { callId: string; carrier: string; bot: string; outcome: string; durationMs: number; turns: number }): void;
  /** A try at a job is over. */
  job(job: { job: string; callId?: string | undefined; durationMs: number; outcome: 'done' | 'retried' | 'failed' }): void;
  /** Exports what is there still, for some seconds at most. */
  close(): Promise<void>;
}

export interface TracesOptions {
  readonly config: {
    readonly settings: Pick<Settings, 'telemetry'>;
    readonly secrets: { readonly otlpHeaders: Secret | undefined };
  };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @returns undefined where no exporter is set: then OpenTelemetry is not loaded, and nothing is sent with requests */
export async function openTraces({ config, clock, logger }: TracesOptions): Promise<Traces | undefined> {
  const { endpoint, ratio } = config.settings.telemetry;
  if (endpoint === undefined) return undefined;
  const { OtlpTraces } = await import('./otlp-traces.ts');
  sendTraceContext(ratio);
  return new OtlpTraces({ ...config.settings.telemetry, endpoint, headers: config.secrets.otlpHeaders, clock, logger });
}
