import { expect, it } from 'vitest';
import { addUp, countsOf, createMetrics, type MetricsSnapshot } from '../../../src/observability/metrics.ts';

/** As it comes over the channel between two processes. */
async function told(prepare: (metrics: ReturnType<typeof createMetrics>) => void): Promise<MetricsSnapshot> {
  const metrics = createMetrics();
  prepare(metrics);
  return JSON.parse(JSON.stringify(await metrics.snapshot())) as MetricsSnapshot;
}

const oneProcess = (calls: number) =>
  told((metrics) => {
    metrics.setCallsActive('twilio', calls);
    for (let call = 0; call < calls; call += 1) metrics.callEnded('twilio', 'caller-hangup', 4_000);
  });

it('adds the numbers of several processes up, and takes the worst lag', async () => {
  const front = createMetrics();
  front.callAnswered('twilio', 'accepted');
  front.watchLoopLag(() => ({ lagMs: 300, shedding: true }));
  front.watchProcesses(() => ({ up: 2, restarts: 1 }));
  const { body } = await front.render([await oneProcess(2), await oneProcess(3)]);
  for (const line of [
    'offhook_calls_active{carrier="twilio"} 5',
    'offhook_calls_total{carrier="twilio",outcome="caller-hangup"} 5',
    'offhook_call_duration_seconds_count{carrier="twilio"} 5',
    'offhook_call_duration_seconds_bucket{le="+Inf",carrier="twilio"} 5',
    'offhook_calls_answered_total{carrier="twilio",answer="accepted"} 1',
    'offhook_event_loop_lag_seconds 0.3',
    'offhook_calls_shedding 1',
    'offhook_processes_up 2',
    'offhook_process_restarts 1',
  ])
    expect(body).toContain(`${line}\n`);
});

it('keeps of a process that is gone what it counted, and not how it stood', async () => {
  const departed = await addUp([countsOf(await oneProcess(2)), countsOf(await oneProcess(1))]);
  const { body } = await createMetrics().render([departed, await oneProcess(4)]);
  expect(body).toContain('offhook_calls_total{carrier="twilio",outcome="caller-hangup"} 7\n');
  expect(body).toContain('offhook_calls_active{carrier="twilio"} 4\n');
});
