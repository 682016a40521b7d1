import { expect, it } from 'vitest';
import { CallLog } from '../../../../src/call/log/call-log.ts';
import type { CallNews } from '../../../../src/call/log/call-news.ts';
import type { CallRecord } from '../../../../src/call/log/call-record.ts';
import type { CallIdentity } from '../../../../src/call/log/call-record.ts';
import type { CallServices } from '../../../../src/call/services.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { createLogger, silentLogger } from '../../../../src/observability/logger.ts';
import { createEvents } from '../../../../src/observability/events.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';

it('tells of the holes in the replies of a call once for each cause, with their count', async () => {
  const lines: string[] = [];
  const metrics = createMetrics();
  const logger = createLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } });
  // What the end of a call asks of them, and no more.
  const services = Object.assign(Object.create(null) as CallServices, {
    clock: new ManualClock(),
    logger: silentLogger,
    events: createEvents(logger, metrics, new ManualClock()),
    news: () => undefined,
  });
  const book = new CallLog(Object.assign(Object.create(null) as CallIdentity, { callId: 'call_1' }), services);
  const playout = { starvedBySource: 0, starvedByGateway: 3_000, marksUnknown: 0, longestHoleMs: 0 };
  const end = { carrier: 'twilio', durationMs: 9_000, endReason: 'caller-hangup', turns: [], playout };
  book.ended(Object.assign(Object.create(null) as CallRecord, end));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('playout underrun');
  expect(JSON.parse(lines[0]!)).toMatchObject({ callId: 'call_1', cause: 'gateway', count: 3_000 });
  expect((await metrics.render()).body).toContain('offhook_underruns_total{cause="gateway"} 3000');
});

it('says what a caller waits for when a wait is covered', () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } });
  const services = Object.assign(Object.create(null) as CallServices, { clock: new ManualClock(), logger });
  const book = new CallLog(Object.assign(Object.create(null) as CallIdentity, { callId: 'call_1' }), services);
  book.filler('words');
  expect(JSON.parse(lines[0]!)).toMatchObject({ callId: 'call_1', waitingFor: 'words' });
  expect(book.timeline.events).toEqual([expect.objectContaining({ type: 'filler', waitingFor: 'words' })]);
});

it('tells where the dialog is when that has changed, and not at every answer that says the same', () => {
  const told: CallNews[] = [];
  const services = Object.assign(Object.create(null) as CallServices, {
    clock: new ManualClock(),
    logger: silentLogger,
    news: (news: CallNews) => void told.push(news),
  });
  const book = new CallLog(Object.assign(Object.create(null) as CallIdentity, { callId: 'call_1' }), services);
  book.conversation.open({ kind: 'start' }, 0);
  book.stepped(['ask-day']);
  book.stepped(['ask-day']);
  book.set({ day: 'friday' });
  book.set({ day: 'friday', time: '' });
  book.set({ day: '' });
  expect(told).toEqual([
    { type: 'state', callId: 'call_1', step: 'ask-day', slots: {} },
    { type: 'state', callId: 'call_1', step: 'ask-day', slots: { day: 'friday' } },
    { type: 'state', callId: 'call_1', step: 'ask-day', slots: {} },
  ]);
});
