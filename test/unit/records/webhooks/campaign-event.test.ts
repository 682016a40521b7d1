import { expect, it } from 'vitest';
import { bodyFor, campaignChanged, deliveryId, webhookEvent } from '../../../../src/records/webhooks/webhook-event.ts';

const paused = {
  tenantId: 'default',
  campaignId: 'cmp_1',
  name: 'March reminders',
  botName: 'reminder',
  change: 'paused',
  atMs: Date.parse('2026-03-02T10:00:00Z'),
  reason: 'failures',
  contacts: { waiting: 3, done: 7 },
} as const;

it('an event of a campaign names the campaign, and why it paused', () => {
  expect(bodyFor(webhookEvent.parse(campaignChanged(paused)), { numbers: 'masked', words: false })).toEqual({
    type: 'campaign.paused',
    timestamp: '2026-03-02T10:00:00.000Z',
    data: {
      campaignId: 'cmp_1',
      tenantId: 'default',
      name: 'March reminders',
      botName: 'reminder',
      reason: 'failures',
      contacts: { waiting: 3, done: 7 },
    },
  });
});

it('the same change is the same delivery, a later pause another', () => {
  const id = deliveryId(campaignChanged(paused), 'crm');
  expect(deliveryId(campaignChanged({ ...paused }), 'crm')).toBe(id);
  expect(deliveryId(campaignChanged({ ...paused, atMs: paused.atMs + 1 }), 'crm')).not.toBe(id);
});
