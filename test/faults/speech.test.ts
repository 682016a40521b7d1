import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { FaultyProxy } from '../../src/sim/faults/tcp-proxy.ts';
import type { RecognitionEvent } from '../../src/speech/port.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';

describe('recognition over a broken line', () => {
  test.each([
    { kind: 'drop', afterBytes: [4_000, 9_000] },
    { kind: 'reset', afterBytes: [12_000, 2_500] },
    { kind: 'stall', afterBytes: [9_000] },
  ] as const)(
    'hears every word once ($kind)',
    async ({ kind, afterBytes }) => {
      await using server = await startTestPlatform();
      const { authUrl, asrUrl, apiKey } = server.platform;
      const faults = afterBytes.map((bytes) => ({ kind, afterBytes: bytes }));
      await using proxy = await FaultyProxy.start(asrUrl, faults);
      await using client = new SpeechPlatform(
        { authUrl, asrUrl: proxy.url, apiKey },
        { clock: systemClock, logger: silentLogger },
      );
      const events: RecognitionEvent[] = [];
      const session = client.recogniser.open({ language: 'en', sampleRateHz: 8_000 }, (event) => events.push(event));
      const heard = (): string => events.flatMap((event) => (event.type === 'final' ? event.text || [] : [])).join(' ');
      const isTold = (): boolean => events.some(({ type }) => type === 'audio-lost' || type === 'closed');
      session.send(sayTones(['alpha', 'bravo', 'charlie'], 8_000));
      session.commit();
      // A line that says nothing is found out after five seconds.
      await vi.waitFor(() => expect(heard().split(' ').length >= 3 || isTold()).toBe(true), { timeout: 15_000, interval: 10 });
      await session.end();
      expect(proxy.broken).toBe(afterBytes.length);
      expect(events.filter(({ type }) => type === 'audio-lost')).toEqual([]);
      expect(heard()).toBe('alpha bravo charlie');
    },
    20_000,
  );
});
