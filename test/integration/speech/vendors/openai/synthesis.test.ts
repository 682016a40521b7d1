import { describe, expect, it, test } from 'vitest';
import { decodeAudio } from '../../../../../src/audio/codec.ts';
import { type AudioFormat, durationMs, TELEPHONE_FORMAT } from '../../../../../src/audio/format.ts';
import { rmsLevelDb } from '../../../../../src/audio/level.ts';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { sine } from '../../../../../src/audio/tone.ts';
import type { SynthesisRequest } from '../../../../../src/speech/port.ts';
import { startWorld, type World } from './world.ts';
import { hangs } from '../../../../support/patience.ts';

describe('synthesis', () => {
  async function spoken({ vendor }: World, request: Partial<SynthesisRequest> = {}): Promise<Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    const asked = { text: 'Good morning.', voice: 'af_heart', language: 'en', ...request };
    for await (const chunk of vendor.synthesizer?.speak(asked, new AbortController().signal) ?? []) chunks.push(chunk);
    return chunks;
  }
  const failureOf = (world: World): Promise<Error> =>
    spoken(world).then(
      () => new Error('it did not fail'),
      (error: unknown) => error as Error,
    );
  /** What the scripted engine makes for "Good morning." */
  const GREETING_MS = 260;

  const formats: AudioFormat[] = [
    TELEPHONE_FORMAT,
    { encoding: 'alaw', rateHz: 8_000 },
    { encoding: 'pcm16', rateHz: 8_000 },
    { encoding: 'pcm16', rateHz: 16_000 },
    { encoding: 'pcm16', rateHz: 24_000 },
  ];
  test.each(formats)('gives $encoding at $rateHz Hz, in whole samples, whatever the server makes', async (format) => {
    for (const synthesisFormat of ['pcm', 'wav']) {
      await using world = await startWorld({ chunkBytes: 1_001 }, { synthesisFormat });
      const chunks = await spoken(world, { format });
      expect(durationMs(format, Buffer.concat(chunks).length)).toBeCloseTo(GREETING_MS, 0);
      for (const chunk of chunks) expect(chunk.length % (format.encoding === 'pcm16' ? 2 : 1)).toBe(0);
      const pcm = joinSamples(chunks.map((chunk) => decodeAudio(format.encoding, chunk)));
      expect(rmsLevelDb(pcm)).toBeCloseTo(rmsLevelDb(sine(440, GREETING_MS, format.rateHz)), 0);
    }
  });

  it('asks for what the request says', async () => {
    await using world = await startWorld({}, { instructions: 'Speak calmly.' });
    await spoken(world, { speed: 1.2 });
    expect(world.server.requests[0]?.fields).toEqual({
      model: 'kokoro',
      input: 'Good morning.',
      voice: 'af_heart',
      response_format: 'pcm',
      speed: 1.2,
      instructions: 'Speak calmly.',
      stream: true,
    });
  });

  it('passes audio on before the last of it is made', async () => {
    await using world = await startWorld({ fault: () => 'stall' });
    const audio = world.vendor.synthesizer?.speak({ text: 'Hello. '.repeat(40), voice: 'af_heart', language: 'en' }, hangs());
    for await (const chunk of audio ?? []) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await world.server.requests[0]?.hungUp;
  });

  it('ends the request when nobody listens any more', async () => {
    await using world = await startWorld({ fault: () => 'stall' });
    const bargeIn = new AbortController();
    const audio = world.vendor.synthesizer?.speak(
      { text: 'Hello. '.repeat(40), voice: 'af_heart', language: 'en' },
      bargeIn.signal,
    );
    const speaking = (async () => {
      for await (const _chunk of audio ?? []) bargeIn.abort(new Error('barge-in'));
    })();
    await expect(speaking).rejects.toThrow('barge-in');
    await world.server.requests[0]?.hungUp;
  });

  it.each(['right', 'unknown', 'zero', 'too short', 'too long'] as const)(
    'plays a WAV file to its end when its header states a length that is %s',
    async (wavLength) => {
      await using world = await startWorld({ wavLength, chunkBytes: 333 }, { synthesisFormat: 'wav' });
      const chunks = await spoken(world);
      expect(Buffer.concat(chunks).length / 8).toBeCloseTo(GREETING_MS, 0);
    },
  );

  it('plays no chunk that follows the samples of a WAV file', async () => {
    for (const chunkBytes of [333, 41, 100_000]) {
      await using world = await startWorld({ trailingChunk: true, chunkBytes, rateHz: 8_000 }, { synthesisFormat: 'wav' });
      const format: AudioFormat = { encoding: 'pcm16', rateHz: 8_000 };
      const pcm = decodeAudio('pcm16', Buffer.concat(await spoken(world, { format })));
      expect(pcm).toEqual(sine(440, GREETING_MS, 8_000));
    }
  });

  it('takes the rate of a WAV file from its header, and that of samples from the settings', async () => {
    await using wav = await startWorld({ rateHz: 22_050 }, { synthesisFormat: 'wav' });
    expect(Buffer.concat(await spoken(wav)).length / 8).toBeCloseTo(GREETING_MS, 0);
    await using pcm = await startWorld({ rateHz: 16_000 }, { synthesisRateHz: 16_000 });
    expect(Buffer.concat(await spoken(pcm)).length / 8).toBeCloseTo(GREETING_MS, 0);
  });

  it.each([
    ['a wrong key', { status: 401 }, 'OFFHOOK_SPEECH_AUTH', 1],
    ['a model that is not there', { status: 404 }, 'OFFHOOK_SPEECH_REQUEST', 1],
    ['a limit with a long wait', { status: 429, headers: { 'retry-after': '60' } }, 'OFFHOOK_SPEECH_BUSY', 1],
    ['a server that goes on failing', { status: 500 }, 'OFFHOOK_SPEECH_UNAVAILABLE', 3],
    ['a server that says nothing', 'silent', 'OFFHOOK_SPEECH_UNAVAILABLE', 1],
    ['a connection that breaks in the middle', 'break', 'OFFHOOK_SPEECH_UNAVAILABLE', 1],
    ['audio that stops', 'stall', 'OFFHOOK_SPEECH_UNAVAILABLE', 1],
  ] as const)('fails with a typed error for %s', async (_fault, fault, code, requests) => {
    await using world = await startWorld({ fault: () => fault });
    expect(await failureOf(world)).toMatchObject({ code });
    expect(world.server.requests).toHaveLength(requests);
  });

  it('fails with a typed error for a text in the place of audio', async () => {
    await using world = await startWorld({
      fault: () => ({ status: 200, body: 'the model is loading, please come back later' }),
    });
    expect(await failureOf(world)).toMatchObject({ code: 'OFFHOOK_SPEECH_PROTOCOL' });
  });

  it('speaks again after one failure', async () => {
    await using world = await startWorld({ fault: (_request, index) => (index === 0 ? { status: 503 } : undefined) });
    expect(Buffer.concat(await spoken(world)).length / 8).toBeCloseTo(GREETING_MS, 0);
  });
});
