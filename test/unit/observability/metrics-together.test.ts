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
    metrics.watchCalls(() => new Map([['twilio', calls]]));
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

it('shows no gauge of what is not there any more', async () => {
  const metrics = createMetrics();
  const slot = { service: 'asr', priority: 'live', held: 1, waiting: 0, limit: 4, leased: 4 } as const;
  let slots = [{ ...slot, vendor: 'first' }];
  let calls = new Map([
    ['twilio', 2],
    ['genesys', 1],
  ]);
  metrics.watchSpeechSlots(() => slots);
  metrics.watchCalls(() => calls);
  const lines = async (): Promise<string[]> =>
    (await metrics.render()).body.split('\n').filter((line) => /^offhook_(speech_slots|calls_active)/u.test(line));
  expect(await lines()).toEqual([
    'offhook_calls_active{carrier="twilio"} 2',
    'offhook_calls_active{carrier="genesys"} 1',
    'offhook_speech_slots_leased{vendor="first",service="asr"} 4',
    'offhook_speech_slots{vendor="first",service="asr",priority="live",state="held"} 1',
    'offhook_speech_slots{vendor="first",service="asr",priority="live",state="waiting"} 0',
  ]);
  slots = [{ ...slot, vendor: 'second' }];
  calls = new Map([['genesys', 0]]);
  expect(await lines()).toEqual([
    'offhook_calls_active{carrier="genesys"} 0',
    'offhook_speech_slots_leased{vendor="second",service="asr"} 4',
    'offhook_speech_slots{vendor="second",service="asr",priority="live",state="held"} 1',
    'offhook_speech_slots{vendor="second",service="asr",priority="live",state="waiting"} 0',
  ]);
});
