import { expect, it } from 'vitest';
import { callEnded } from '../../../../src/records/webhooks/webhook-event.ts';
import { callRecordOf } from '../../../support/call-records.ts';

it('says in call.ended who answered a call that we placed, and how much of a message was heard', () => {
  const outbound = { opinions: [], identified: false, answeredBy: 'mailbox' as const, message: 'all' as const };
  expect(callEnded(callRecordOf({ id: 'call_1', direction: 'outbound', outbound })).data).toMatchObject({
    answeredBy: 'mailbox',
    message: 'all',
  });
  expect(callEnded(callRecordOf({ id: 'call_2' })).data).not.toHaveProperty('answeredBy');
});
