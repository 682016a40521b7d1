import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { ListenedCall } from '../../../src/call/listened-call.ts';
import type { CallNews } from '../../../src/call/log/call-news.ts';
import type { CallIdentity, CallRecord } from '../../../src/call/log/call-record.ts';
import type { CallServices } from '../../../src/call/services.ts';
import { DEFAULT_CALL_TIMING } from '../../../src/call/services.ts';
import { Ticker } from '../../../src/call/ticker.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { createEvents } from '../../../src/observability/events.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { PLATFORM_RECOGNITION } from '../../../src/speech/platform-capabilities.ts';
import type { RecognitionEvent } from '../../../src/speech/port.ts';
import { BenchAttachment } from './call-bench.ts';

it('tells of a card number that people speak to each other its last four digits alone', async () => {
  const clock = new ManualClock(10_000);
  const told: CallNews[] = [];
  let record: CallRecord | undefined;
  let recognise: (event: RecognitionEvent) => void = () => undefined;
  const services: Partial<CallServices> = {
    clock,
    logger: silentLogger,
    events: createEvents(silentLogger, createMetrics(), clock),
    ticker: new Ticker(clock, 20, (error) => {
      throw error;
    }),
    createDetector: () => ({ process: () => ({ voiced: false, speechLike: 0 }), close: () => undefined }),
    recogniser: {
      capabilities: PLATFORM_RECOGNITION,
      open: (_options, listener) => {
        recognise = listener;
        return { send: () => undefined, commit: () => undefined, end: async () => undefined, abort: () => undefined };
      },
    },
    spareRecognition: () => undefined,
    journal: () => undefined,
    ended: async (ended) => void (record = ended),
    news: (news) => void told.push(news),
  };
  const inbound = { carrier: 'bench', carrierCallId: 'CA1', from: '+1', to: '+2', direction: 'inbound', mode: 'listen' } as const;
  const bot = botSettings.parse({
    name: 'desk',
    voice: 'Nisha',
    recording: 'never',
    dialog: { kind: 'module', file: 'bench.js' },
  });
  const identity: Partial<CallIdentity> = {
    callId: 'call_bench',
    tenantId: 'default',
    inbound: { ...inbound, botName: undefined },
    bot: { ...bot, folder: tmpdir() },
    dialog: {
      create: () => {
        throw new Error('a call between people asks no dialog');
      },
    },
  };
  const call = new ListenedCall(identity as CallIdentity, services as CallServices, DEFAULT_CALL_TIMING);
  call.attach(new BenchAttachment(clock, 'att_0'));
  const text = 'my card is 4111 1111 1111 1111';
  recognise({ type: 'final', seg: 0, text, endOfUtterance: true, language: 'en' });
  const shown = 'my card is ************1111';
  expect(told.at(-1)).toMatchObject({ type: 'turn', callerText: shown });
  expect(call.standing.callerText).toBe(shown);
  call.carrierEnded('caller-hangup');
  await call.ended;
  expect(JSON.stringify([record, told])).not.toContain('4111 1111');
});
