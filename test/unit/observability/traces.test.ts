import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { isSampled, sendTraceContext, spanOf, traceHeaders } from '../../../src/observability/trace-context.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { openTraces } from '../../../src/observability/traces.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('traces', () => {
  it('are not made, and OpenTelemetry is not loaded, where no exporter is set', async () => {
    const config = loadConfig({ env: {}, files: [] });
    expect(await openTraces({ config, clock: new ManualClock(), logger: silentLogger })).toBeUndefined();
    expect(traceHeaders('call_1', 2)).toEqual({});
    const users = globSync('src/**/*.ts').filter((path) => readFileSync(path, 'utf8').includes("from '@opentelemetry/"));
    expect(users).toEqual(['src/observability/otlp-traces.ts']);
    const importers = globSync('src/**/*.ts').filter((path) => readFileSync(path, 'utf8').includes("from './otlp-traces.ts'"));
    expect(importers).toEqual([]);
  });

  it('are of the same share of calls in every process', () => {
    const traces = Array.from({ length: 2_000 }, (_, index) => spanOf(`call_${index}`).traceId);
    expect(traces.filter((traceId) => isSampled(traceId, 0))).toEqual([]);
    expect(traces.every((traceId) => isSampled(traceId, 1))).toBe(true);
    const sampled = traces.filter((traceId) => isSampled(traceId, 0.25));
    expect(sampled.length / traces.length).toBeCloseTo(0.25, 1);
  });

  it('tell called servers whether the call is traced', () => {
    sendTraceContext(0);
    expect(traceHeaders('call_1').traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/u);
    sendTraceContext(1);
    expect(traceHeaders('call_1', 3).traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/u);
    sendTraceContext(undefined);
  });
});
