import { describe, expect, it, test } from 'vitest';
import { readStatusWebhook, readVoiceWebhook } from '../../../../src/carriers/twilio/webhook.ts';

describe('readVoiceWebhook', () => {
  it('reads who calls whom', () => {
    expect(readVoiceWebhook({ CallSid: 'CA1', From: '+1', To: '+2', Direction: 'outbound-api', Extra: 'x' }, 'clinic')).toEqual({
      carrier: 'twilio',
      carrierCallId: 'CA1',
      from: '+1',
      to: '+2',
      direction: 'outbound',
      botName: 'clinic',
    });
    expect(readVoiceWebhook({ CallSid: 'CA1' }, undefined)).toMatchObject({ from: '', to: '', direction: 'inbound' });
  });

  it.each([undefined, null, '', [], {}, { CallSid: '' }, { CallSid: ['a', 'b'] }, { CallSid: 'x'.repeat(500) }])(
    'reads nothing in %j',
    (fields) => {
      expect(readVoiceWebhook(fields, undefined)).toBeUndefined();
    },
  );
});

describe('readStatusWebhook', () => {
  test.each([
    ['completed', true],
    ['busy', true],
    ['failed', true],
    ['no-answer', true],
    ['canceled', true],
    ['in-progress', false],
    ['ringing', false],
  ])('knows whether %s is the end', (status, terminal) => {
    expect(readStatusWebhook({ CallSid: 'CA1', CallStatus: status })).toMatchObject({ carrierCallId: 'CA1', status, terminal });
  });

  test.each([
    [{ CallStatus: 'initiated' }, { state: 'queued' }],
    [{ CallStatus: 'queued' }, { state: 'queued' }],
    [{ CallStatus: 'ringing' }, { state: 'ringing' }],
    [{ CallStatus: 'in-progress' }, { state: 'answered' }],
    [
      { CallStatus: 'completed', SipResponseCode: '200' },
      { state: 'ended', outcome: 'completed' },
    ],
    [{ CallStatus: 'busy' }, { state: 'ended', outcome: 'busy' }],
    [
      { CallStatus: 'busy', SipResponseCode: '603' },
      { state: 'ended', outcome: 'rejected', cause: 'SIP 603' },
    ],
    [
      { CallStatus: 'failed', SipResponseCode: '607' },
      { state: 'ended', outcome: 'rejected', cause: 'SIP 607' },
    ],
    [
      { CallStatus: 'failed', SipResponseCode: '608' },
      { state: 'ended', outcome: 'rejected', cause: 'SIP 608' },
    ],
    [
      { CallStatus: 'failed', SipResponseCode: '480' },
      { state: 'ended', outcome: 'no-answer', cause: 'SIP 480' },
    ],
    [
      { CallStatus: 'failed', SipResponseCode: '404' },
      { state: 'ended', outcome: 'failed', cause: 'SIP 404' },
    ],
    [
      { CallStatus: 'failed', SipResponseCode: '503', ErrorCode: '32014' },
      { state: 'ended', outcome: 'failed', cause: '32014' },
    ],
    [
      { CallStatus: 'failed', SipResponseCode: 'x' },
      { state: 'ended', outcome: 'failed' },
    ],
    [
      { CallStatus: 'no-answer', SipResponseCode: '487' },
      { state: 'ended', outcome: 'no-answer', cause: 'SIP 487' },
    ],
    [
      { CallStatus: 'canceled', SipResponseCode: '487' },
      { state: 'ended', outcome: 'cancelled', cause: 'SIP 487' },
    ],
    [{ CallStatus: 'completed', StreamEvent: 'stream-stopped' }, undefined],
    [{ CallStatus: 'something-new' }, undefined],
  ])('says how far a dialled call has come by %j', (fields, progress) => {
    expect(readStatusWebhook({ CallSid: 'CA1', ...fields })?.progress).toEqual(progress);
  });

  test.each([
    ['human', 'person'],
    ['machine_start', 'machine'],
    ['machine_end_beep', 'machine-done'],
    ['machine_end_silence', 'machine-done'],
    ['machine_end_other', 'machine-done'],
    ['fax', 'fax'],
    ['unknown', 'unknown'],
    ['something-new', undefined],
  ])('takes the detection %s for %s, which ends nothing', (AnsweredBy, witness) => {
    const status = readStatusWebhook({ CallSid: 'CA1', AccountSid: 'AC1', AnsweredBy, MachineDetectionDuration: '2400' });
    expect(status).toMatchObject({ carrierCallId: 'CA1', terminal: false });
    expect(status?.witness).toBe(witness);
    expect(status?.progress).toBeUndefined();
  });

  it('takes a stream callback for what it is', () => {
    expect(readStatusWebhook({ CallSid: 'CA1', StreamEvent: 'stream-error', StreamError: '31921' })).toMatchObject({
      status: 'stream-error',
      terminal: false,
      streamError: '31921',
    });
    expect(readStatusWebhook({ CallSid: 'CA1' })).toBeUndefined();
    expect(readStatusWebhook({ CallStatus: 'busy' })).toBeUndefined();
  });
});
