import { describe, expect, it } from 'vitest';
import { decodeAudio } from '../../src/audio/codec.ts';
import { activeLevelDb } from '../../src/audio/level.ts';
import { likenessOf } from '../../src/platform/engines/synth/likeness.ts';
import { startSpeakingPlatform } from './speaking-platform.ts';
import { shared } from '../support/shared.ts';

const rateHz = 24_000;

describe('synthesis over the real engine', () => {
  const speaking = shared(() => startSpeakingPlatform());

  async function speak(fields: Record<string, unknown>) {
    const response = await fetch(`${speaking.test.platform.ttsUrl}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await speaking.test.token()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'zero-indic', input: 'Good morning.', voice: 'Nisha', response_format: 'pcm', ...fields }),
    });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  }
  const pcmOf = async (fields: Record<string, unknown>) => decodeAudio('pcm16', (await speak(fields)).bytes);

  it.each(['mp3', 'ogg_opus'])(
    'spends more bits on a higher quality in %s, and the fewest by default [167]',
    async (response_format) => {
      const size = async (quality?: string) => (await speak({ response_format, quality })).bytes.length;
      const [low, medium, high] = [await size('low'), await size('medium'), await size('high')];
      expect(medium / low).toBeGreaterThan(1.3);
      expect(high / medium).toBeGreaterThan(1.2);
      expect((await size()) / low).toBeCloseTo(1, 1);
    },
  );

  it('keeps a soft sentence softer in high quality, and levels each by itself in low [167]', async () => {
    // One at a time: "shhh" is a hiss, which the engine makes softer than a vowel.
    const difference = async (quality: string) => {
      const pcm = await pcmOf({ input: 'Aah.\nShhh.', quality });
      const half = pcm.length >> 1;
      return activeLevelDb(pcm.subarray(0, half), rateHz) - activeLevelDb(pcm.subarray(half), rateHz);
    };
    const [low, high] = [await difference('low'), await difference('high')];
    expect(Math.abs(high - low)).toBeGreaterThan(1);
  });

  it('refuses other qualities with 400 [167]', async () => {
    for (const quality of ['ultra', '', 'LOW', 3]) expect((await speak({ quality })).status).toBe(400);
  });

  it('keeps the pitch at the slowest and the fastest speed [162]', async () => {
    const input = 'The weather today is fine, and I will call you again tomorrow.';
    const pitch = async (speed: number) => likenessOf(await pcmOf({ input, speed }), rateHz)!.pitchHz;
    const own = await pitch(1);
    for (const speed of [0.25, 4]) expect(Math.abs(Math.log((await pitch(speed)) / own))).toBeLessThan(0.08);
  });

  it('answers 503 while the engine warms up after its end, and speaks when it has [170]', async () => {
    process.kill(speaking.synthesis.pid!, 'SIGKILL');
    await expect.poll(() => speaking.synthesis.pid).toBeUndefined();
    const { status, bytes } = await speak({});
    expect([status, JSON.parse(Buffer.from(bytes).toString('utf8'))]).toEqual([503, { detail: expect.any(String) }]);
    await expect.poll(async () => (await speak({})).status, { timeout: 15_000 }).toBe(200);
  });
});
