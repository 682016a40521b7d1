import { describe, expect, it } from 'vitest';
import { createEvents } from '../../../src/observability/events.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function setUp() {
  const lines: string[] = [];
  const metrics = createMetrics();
  const logger = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } });
  return { lines, metrics, events: createEvents(logger, metrics, new ManualClock()) };
}

describe('createEvents', () => {
  it('writes one line and its metrics for a call', async () => {
    const { lines, metrics, events } = setUp();
    events.callAnswered({ carrier: 'twilio', callId: 'c', carrierCallId: 'CA', from: '+1555', to: '+1666' });
    events.callStarted({ carrier: 'twilio', callId: 'c' });
    events.turnCompleted({
      callId: 'c',
      index: 1,
      inputKind: 'spoken',
      latencyMs: { endpointing: 640, total: 900 },
      text: 'secret words',
    });
    events.callEnded({
      carrier: 'twilio',
      callId: 'c',
      bot: 'clinic',
      outcome: 'bot-hangup',
      reason: 'done',
      durationMs: 30_000,
      turns: 4,
    });
    expect(lines).toHaveLength(4);
    expect(lines.join()).not.toMatch(/1555|1666|secret words/);
    const { body, contentType } = await metrics.render();
    expect(contentType).toContain('text/plain');
    expect(body).toContain('offhook_calls_total{carrier="twilio",outcome="bot-hangup"} 1');
    expect(body).toContain('offhook_turn_latency_seconds_sum{stage="endpointing"} 0.64');
    expect(body).toContain('offhook_turn_latency_seconds_count{stage="total"} 1');
    expect(body).not.toContain('stage="dialog"');
  });

  it('counts every rejected message but logs a flood of them sparsely', async () => {
    const { lines, metrics, events } = setUp();
    for (let count = 1; count <= 2000; count++) events.messageRejected({ carrier: 'twilio', problem: 'x', count });
    expect(lines).toHaveLength(12);
    expect((await metrics.render()).body).toContain('offhook_media_messages_rejected_total{carrier="twilio"} 2000');
  });

  it('says once of a call that its carrier returns too few marks, until a call of it has them back', async () => {
    const { lines, metrics, events } = setUp();
    events.marksMissing({ carrier: 'twilio', callId: 'c' });
    expect(lines.join()).toContain('too few playout marks: what was heard is estimated');
    expect((await metrics.render()).body).toContain('offhook_carrier_marks_missing{carrier="twilio"} 1');
    events.marksReturned({ carrier: 'twilio' });
    expect((await metrics.render()).body).toContain('offhook_carrier_marks_missing{carrier="twilio"} 0');
  });

  it('covers refusals, interruptions, underruns, speech errors and jobs', async () => {
    const { lines, metrics, events } = setUp();
    events.callRefused({ carrier: 'twilio', carrierCallId: 'CA', cause: 'calls', reason: 'full', from: 'a', to: 'b' });
    const formats = { inbound: 'mulaw at 8000 Hz', outbound: 'mulaw at 8000 Hz' };
    events.attached({ carrier: 'twilio', callId: 'c', attachmentId: 'a', streamId: 's', ...formats });
    events.detached({ carrier: 'twilio', callId: 'c', attachmentId: 'a', code: 1006, reason: '' });
    events.interrupted({ callId: 'c', turn: 1, kind: 'cleared', cause: 'voice' });
    events.interrupted({ callId: 'c', turn: 1, kind: 'held', cause: 'quiet' });
    events.underruns({ callId: 'c', cause: 'gateway', count: 1500 });
    events.speechFailed({ callId: 'c', service: 'asr', code: 'OFFHOOK_X', error: new Error('e') });
    events.dialogFailed({ callId: 'c', turn: 1, error: 'e' });
    events.webhookRefused({ carrier: 'twilio', reason: 'signature', status: 403, address: '127.0.0.1' });
    events.streamRefused({ carrier: 'twilio', reason: 'replayed', status: 403, address: '127.0.0.1' });
    events.messageUnknown({ carrier: 'twilio', name: 'x' });
    events.jobDone({ job: 'analyse', jobId: 'j', durationMs: 5 });
    events.jobFailed({ job: 'analyse', jobId: 'j', durationMs: 5, final: false, error: 'e' });
    events.jobFailed({ job: 'analyse', jobId: 'j', durationMs: 5, final: true, error: 'e' });
    expect(lines).toHaveLength(12);
    const { body } = await metrics.render();
    for (const line of [
      'offhook_calls_answered_total{carrier="twilio",answer="refused"} 1',
      'offhook_interruptions_total{kind="cleared",cause="voice"} 1',
      'offhook_interruptions_total{kind="held",cause="quiet"} 1',
      'offhook_underruns_total{cause="gateway"} 1500',
      'offhook_speech_errors_total{service="asr",code="OFFHOOK_X"} 1',
      'offhook_webhooks_refused_total{carrier="twilio",reason="signature"} 1',
      'offhook_streams_refused_total{carrier="twilio",reason="replayed"} 1',
      'offhook_media_messages_unknown_total{carrier="twilio"} 1',
      'offhook_jobs_total{job="analyse",outcome="done"} 1',
      'offhook_jobs_total{job="analyse",outcome="retried"} 1',
      'offhook_jobs_total{job="analyse",outcome="failed"} 1',
    ])
      expect(body).toContain(line);
  });
});
