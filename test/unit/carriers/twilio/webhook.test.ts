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
