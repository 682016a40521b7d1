import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeAudio } from '../../src/audio/codec.ts';
import { resample } from '../../src/audio/resample.ts';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import { parseWav, wavFile } from '../../src/audio/wav.ts';
import { cosine, embedSpeaker } from '../../src/platform/engines/speakers/embedding.ts';
import { likenessOf } from '../../src/platform/engines/synth/likeness.ts';
import { voices } from '../../src/platform/engines/synth/voices.ts';
import { encodeFlac, encodeMp3, encodeOggOpus } from '../../src/platform/server/tts/encode-speech.ts';
import { startSpeakingPlatform } from './speaking-platform.ts';
import { shared } from '../support/shared.ts';

const rateHz = 24_000;

/** A buzz like a voice's: harmonics of a pitch that glides up and down. */
function voiced(pitchHz: number, semitones: number, seconds: number): Int16Array {
  let phase = 0;
  return Int16Array.from({ length: Math.round(seconds * rateHz) }, (_, at) => {
    phase += (pitchHz * 2 ** ((semitones / 24) * Math.sin((2 * Math.PI * 1.3 * at) / rateHz))) / rateHz;
    return [1, 2, 3, 4, 5].reduce((sum, n) => sum + (6000 / n) * Math.sin(2 * Math.PI * n * phase), 0);
  });
}
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const wav = (pcm: Int16Array): string => base64(wavFile(pcm, rateHz));

describe('a voice from a reference clip', () => {
  const speaking = shared(() => startSpeakingPlatform());

  async function speak(fields: Record<string, unknown>) {
    const response = await fetch(`${speaking.test.platform.ttsUrl}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await speaking.test.token()}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'zero-indic',
        input: 'The weather today is fine, and I will call you again tomorrow.',
        voice: 'Varun',
        response_format: 'pcm',
        ...fields,
      }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, bytes, text: Buffer.from(bytes).toString('utf8') };
  }
  const likeness = async (fields: Record<string, unknown>) =>
    likenessOf(decodeAudio('pcm16', (await speak(fields)).bytes), rateHz)!;

  it.each([
    [80, 'Nisha'],
    [140, 'Varun'],
    [185, 'Varun'],
    [290, 'Nisha'],
  ])('has the pitch of a clip at %d Hz, though %s was named [165]', async (pitchHz, voice) => {
    const heard = await likeness({ voice, reference_wav: wav(voiced(pitchHz, 6, 2)) });
    expect(Math.abs(Math.log(heard.pitchHz / pitchHz))).toBeLessThan(0.15);
  });

  it('moves its pitch as far as the clip does', async () => {
    const [flat, lively] = [
      await likeness({ reference_wav: wav(voiced(190, 0.5, 2)) }),
      await likeness({ reference_wav: wav(voiced(190, 9, 2)) }),
    ];
    expect(flat.rangeSemitones).toBeLessThan(2);
    expect(lively.rangeSemitones).toBeGreaterThan(5);
  });

  it('comes from WAV, FLAC and OGG of 1 to 6 seconds, and from nothing else [165]', async () => {
    const pcm = voiced(200, 4, 1);
    const good = [wav(pcm), wav(voiced(200, 4, 6)), base64(await encodeFlac(pcm, rateHz)), base64(await encodeOggOpus(pcm))];
    for (const reference_wav of good) expect((await speak({ reference_wav })).status).toBe(200);
    const bad = [
      wav(voiced(200, 4, 0.98)),
      wav(voiced(200, 4, 6.02)),
      base64(await encodeMp3(pcm, rateHz)),
      'not base64!',
      base64(Buffer.from('RIFF')),
    ];
    for (const reference_wav of bad) {
      const { status, text } = await speak({ reference_wav });
      expect([status, JSON.parse(text)]).toEqual([400, { detail: expect.stringContaining('reference_wav') }]);
    }
  });

  it('takes a transcript of up to 500 characters [165]', async () => {
    const reference_wav = wav(voiced(200, 4, 1));
    expect((await speak({ reference_wav, reference_text: '😀'.repeat(500) })).status).toBe(200);
    expect(JSON.parse((await speak({ reference_wav, reference_text: 'x'.repeat(501) })).text)).toEqual({
      detail: expect.stringContaining('reference_text'),
    });
  });

  it.each([
    ['silence', new Int16Array(2 * rateHz)],
    ['a hiss', resample(noise(1500, 8000, 0.3, seededRandom(3)), 8000, rateHz)],
    ['a voice that is too soft to hear', voiced(150, 4, 2).map((sample) => sample / 1000)],
  ])('ignored %s in silence: it is a 400 that says what is accepted', async (_, pcm) => {
    const { status, text } = await speak({ reference_wav: wav(pcm) });
    expect([status, JSON.parse(text)]).toEqual([
      400,
      { detail: expect.stringMatching(/^reference_wav: no speech was found in it; send 1 to 6 s .+ WAV, FLAC or OGG$/u) },
    ]);
  });

  const embeddingOf = async (fields: Record<string, unknown>) =>
    embedSpeaker(resample(decodeAudio('pcm16', (await speak(fields)).bytes), rateHz, 16_000));

  it.each(['Arjun', 'Murugan', 'Kiran', 'Salman', 'Lakshmi', 'Thangam', 'Sujata', 'Fatima'])(
    'moved its pitch alone: it is more like a clip of %s in the rest as well',
    async (name) => {
      const words = 'Please enter your account number, followed by the pound key.';
      const clip = decodeAudio('pcm16', (await speak({ voice: name, input: words })).bytes).subarray(0, 5 * rateHz);
      const wanted = embedSpeaker(resample(clip, rateHz, 16_000));
      const gender = voices.find((voice) => voice.name === name)!.gender;
      const plain = await embeddingOf({ voice: gender === 'male' ? 'Varun' : 'Nisha' });
      const cloned = await embeddingOf({ reference_wav: wav(clip) });
      expect(cosine(cloned, wanted)).toBeGreaterThan(cosine(plain, wanted));
    },
  );

  it('has the pace of the clip when its transcript is given', async () => {
    const words = 'Please enter your account number, followed by the pound key.';
    const lengthOf = async (speed: number) => {
      const clip = decodeAudio('pcm16', (await speak({ input: words, speed })).bytes).subarray(0, 6 * rateHz);
      return (await speak({ reference_wav: wav(clip), reference_text: words })).bytes.length;
    };
    expect((await lengthOf(0.85)) / (await lengthOf(1.2))).toBeGreaterThan(1.2);
  });

  const people = new URL('../../../shared/audio/human/', import.meta.url);
  it.skipIf(!existsSync(people))('is more like real people, for most of their clips', { timeout: 900_000 }, async () => {
    const plain = { male: await embeddingOf({ voice: 'Varun' }), female: await embeddingOf({ voice: 'Nisha' }) };
    let [clips, nearer] = [0, 0];
    for (const file of readdirSync(people).filter((name) => name.endsWith('.wav'))) {
      const { samples, rateHz: fileHz } = parseWav(readFileSync(new URL(file, people)));
      const pcm = samples[0]!;
      if (pcm.length < 2 * fileHz || pcm.length > 6 * fileHz) continue;
      const wanted = embedSpeaker(resample(pcm, fileHz, 16_000));
      const cloned = await embeddingOf({ reference_wav: base64(wavFile(pcm, fileHz)) });
      const { pitchHz } = likenessOf(pcm, fileHz)!;
      clips += 1;
      if (cosine(cloned, wanted) > cosine(pitchHz < 150 ? plain.male : plain.female, wanted)) nearer += 1;
    }
    expect(nearer / clips).toBeGreaterThan(0.8);
  });
});
