import { describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createLogger, silentLogger } from '../../../src/observability/logger.ts';
import type { RunningPlatform } from '../../../src/platform/server/start.ts';
import type { RecognitionEvent } from '../../../src/speech/port.ts';
import { SpeechPlatform } from '../../../src/speech/platform.ts';
import { startTestPlatform } from '../platform/setup.ts';
import { eventually } from '../../support/eventually.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { hangs } from '../../support/patience.ts';

function clientOf({ authUrl, asrUrl, ttsUrl, apiKey }: RunningPlatform): SpeechPlatform {
  return new SpeechPlatform({ authUrl, asrUrl, ttsUrl, apiKey }, { clock: systemClock, logger: silentLogger });
}

/** As a call does: frames of 20 ms, faster than real time. */
function sendFrames(session: { send(pcm: Int16Array): void }, pcm: Int16Array): void {
  for (let from = 0; from < pcm.length; from += 160) session.send(pcm.subarray(from, from + 160));
}

describe('speech client against the embedded platform', () => {
  for (const profile of ['plain', 'hosted-like'] as const) {
    it(`hears what was said, turn by turn (${profile})`, async () => {
      await using test = await startTestPlatform({ profile, behaviour: { finalDelaysMs: [0, 30, 90] } });
      await using client = clientOf(test.platform);
      const events: RecognitionEvent[] = [];
      const finals = (): string =>
        events
          .filter((event) => event.type === 'final')
          .map(({ text }) => text)
          .filter((text) => text !== '')
          .join(' ');
      const session = client.recogniser.open({ language: 'en', sampleRateHz: 8_000 }, (event) => events.push(event));
      sendFrames(session, sayTones(['alpha', 'bravo'], 8_000));
      session.commit();
      await eventually(() => finals() === 'alpha bravo');
      sendFrames(session, sayTones(['charlie'], 8_000));
      await session.end();
      expect(finals()).toBe('alpha bravo charlie');
      expect(events.at(-1)).toEqual({ type: 'closed', error: undefined });
    });
  }

  it('tells the log once that a language has no recogniser, and the caller of a batch', async () => {
    await using test = await startTestPlatform();
    const { authUrl, asrUrl, ttsUrl, apiKey } = test.platform;
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', stream: { write: (line: string) => void lines.push(line) } });
    await using client = new SpeechPlatform({ authUrl, asrUrl, ttsUrl, apiKey }, { clock: systemClock, logger });
    for (let turn = 0; turn < 2; turn += 1) {
      const session = client.recogniser.open({ language: 'ta', sampleRateHz: 8_000 }, () => undefined);
      await session.end();
    }
    expect(lines.filter((line) => line.includes('No recogniser for Tamil'))).toHaveLength(1);
    const { bytes, name } = { bytes: wavFile(sayTones(['alpha'], 8_000), 8_000), name: 'call.wav' };
    const result = await client.transcribe({ bytes, name }, { language: 'ta', verbose: true }, hangs());
    expect(result).toMatchObject({ text: '', detectedLanguage: undefined });
    expect(result.warnings).toEqual([expect.stringContaining('No recogniser for Tamil')]);
  });

  it('speaks as telephone audio, two texts over one socket', async () => {
    await using test = await startTestPlatform();
    await using client = clientOf(test.platform);
    for (const text of ['alpha', 'alpha bravo charlie']) {
      const parts: Uint8Array[] = [];
      const request = { text, voice: 'Rajesh', language: 'en' };
      for await (const audio of client.synthesizer.speak(request, hangs())) parts.push(audio);
      const pcm = decodeMulaw(Buffer.concat(parts));
      expect(pcm.length).toBeGreaterThan(1_600);
      expect(rmsLevelDb(pcm)).toBeGreaterThan(-40);
    }
  });

  it('transcribes a file with its segments', async () => {
    await using test = await startTestPlatform();
    await using client = clientOf(test.platform);
    const wav = wavFile(sayTones(['alpha', 'charlie'], 8_000), 8_000);
    const result = await client.transcribe({ bytes: wav, name: 'call.wav' }, { language: 'en', verbose: true }, hangs());
    expect(result.text).toBe('alpha charlie');
    expect(result.requestId).toMatch(/./u);
    expect(result.words.map(({ word }) => word)).toEqual(['alpha', 'charlie']);
    expect(result.durationS).toBeCloseTo(1, 1);
    for (const { startS, endS } of result.segments) expect(startS).toBeLessThanOrEqual(endS);
  });

  it('gives the health of both services in one shape [150]', async () => {
    await using test = await startTestPlatform();
    await using client = clientOf(test.platform);
    const { recognition, synthesis } = await client.health(hangs());
    expect(recognition).toEqual({ healthy: true, voices: [], defaultVoice: undefined });
    expect(synthesis?.healthy).toBe(true);
    expect(synthesis?.voices).toContain(synthesis?.defaultVoice);
  });

  it('says one error for a wrong key, without repeating it', async () => {
    await using test = await startTestPlatform();
    await using client = new SpeechPlatform(
      { ...test.platform, apiKey: 'not-a-key-of-this-platform' },
      { clock: systemClock, logger: silentLogger },
    );
    const events: RecognitionEvent[] = [];
    client.recogniser.open({ language: 'en', sampleRateHz: 8_000 }, (event) => events.push(event));
    await eventually(() => events.length > 0);
    expect(events).toMatchObject([{ type: 'closed', error: { code: 'OFFHOOK_SPEECH_AUTH', status: 403 } }]);
  });
});
