import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeAudio } from '../../../src/audio/codec.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import { encodeMp3 } from '../../../src/platform/server/tts/encode-speech.ts';
import { startTestPlatform, type TestPlatform } from './setup.ts';

describe('background audio', () => {
  let test: TestPlatform;
  let plain: Int16Array;
  beforeAll(async () => {
    test = await startTestPlatform();
    plain = (await speak({})).pcm;
  });
  afterAll(() => test[Symbol.asyncDispose]());

  async function speak(fields: Record<string, unknown>) {
    const response = await test.post(`${test.platform.ttsUrl}/v1/audio/speech`, {
      model: 'zero-indic',
      input: 'hello',
      voice: 'Rajesh',
      response_format: 'mulaw',
      ...fields,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const pcm = response.ok ? decodeAudio('mulaw', bytes) : new Int16Array(0);
    return { status: response.status, text: Buffer.from(bytes).toString('utf8'), pcm };
  }

  /** The engine starts with 100 ms of silence: there the background is alone. */
  const before = (pcm: Int16Array): number => rmsLevelDb(pcm.subarray(80, 720));

  it.each(['office', 'cafe', 'rain', 'street'])('%s lies under the speech, louder with its volume [164]', async (name) => {
    const [silent, usual, loud] = await Promise.all(
      [0, undefined, 1].map((background_volume) => speak({ background_audio: name, background_volume })),
    );
    expect(silent!.pcm).toEqual(plain);
    expect(usual!.pcm.length).toBe(plain.length);
    expect(before(plain)).toBeLessThan(-70);
    // The default is 0.1, 20 dB below the whole.
    expect(before(loud!.pcm) - before(usual!.pcm)).toBeGreaterThan(15);
    expect(before(loud!.pcm)).toBeGreaterThan(-32);
  });

  it('is as well a WAV or an MP3 file in base64 [164]', async () => {
    const tone = sine(1000, 400, 24_000);
    for (const file of [wavFile(tone, 24_000), await encodeMp3(tone, 24_000)]) {
      const background_audio = Buffer.from(file).toString('base64');
      const { pcm } = await speak({ background_audio, background_volume: 1 });
      expect(before(pcm)).toBeGreaterThan(-24);
      expect((await speak({ background_audio, background_volume: 0 })).pcm).toEqual(plain);
    }
  });

  it.each([
    ['a volume below 0', { background_audio: 'rain', background_volume: -0.1 }, 'background_volume'],
    ['a volume above 1', { background_audio: 'rain', background_volume: 1.1 }, 'background_volume'],
    ['an unknown preset that is base64 too', { background_audio: 'beach' }, 'background_audio'],
    ['no base64', { background_audio: 'pub!' }, 'background_audio'],
    ['base64 of no audio', { background_audio: Buffer.from('what is this?').toString('base64') }, 'background_audio'],
    ['a format for clips only', { background_audio: Buffer.from('fLaC and more').toString('base64') }, 'background_audio'],
  ])('refuses %s with 400 [164]', async (_, fields, name) => {
    const { status, text } = await speak(fields);
    expect([status, JSON.parse(text)]).toEqual([400, { detail: expect.stringContaining(name) }]);
  });
});
