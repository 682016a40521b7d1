import { describe, expect, it, test } from 'vitest';
import { parseWav, wavFile } from '../../../../src/audio/wav.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { apiKeyHeader, FixedToken } from '../../../../src/speech/client/credentials.ts';
import type { AudioFile } from '../../../../src/speech/asr/audio-source.ts';
import { transcribeMedical } from '../../../../src/speech/asr/medical.ts';
import { SpeechHttp } from '../../../../src/speech/client/requests.ts';
import { type Answer, API_KEY, type Asked, FakeFetch } from '../fake-platform.ts';

const wav = { bytes: wavFile(new Int16Array(800), 8_000), name: 'visit.wav' };

async function medical(answer: (asked: Asked) => Answer, source: AudioFile = wav, diarize = false, maxBytes?: number) {
  const fake = new FakeFetch(answer);
  const tokens = new FixedToken(API_KEY);
  const clock = new ManualClock();
  const http = new SpeechHttp({ tokens, header: apiKeyHeader, clock, fetch: fake.fetch, timeoutMs: 1_000, maxRetries: 0 });
  const { signal } = new AbortController();
  const sent = transcribeMedical(http, 'https://med.example', source, { diarize }, signal, maxBytes);
  return { result: await sent.catch((error: unknown) => error), asked: fake.asked };
}

describe('medical transcription', () => {
  it('always sends med-en, to a path of its own, with the key in its own header [154] [155]', async () => {
    const { asked } = await medical(() => Response.json({ success: true, text: 'fine' }));
    const [request] = asked;
    expect(request!.url.href).toBe('https://med.example/transcribe');
    expect(request!.headers.get('x-api-key')).toBe(API_KEY);
    expect(request!.headers.get('authorization')).toBeNull();
    const form = request!.body as FormData;
    expect(form.get('language_code')).toBe('med-en');
    expect(form.get('enable_diarization')).toBe('false');
  });

  test.each([
    { note: 'a format the service does not take', source: { bytes: new Uint8Array(9), name: 'visit.txt' } },
    { note: 'a large file that is no WAV', source: { bytes: new Uint8Array(30_000_001), name: 'visit.mp3' } },
  ])('refuses $note before anything is sent [154]', async ({ source }) => {
    const { result, asked } = await medical(() => Response.json({ text: '' }), source);
    expect(result).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    expect(asked).toHaveLength(0);
  });

  it('sends a larger WAV in parts and gives times of the whole [154]', async () => {
    const source = { bytes: wavFile(new Int16Array(8_000 * 5), 8_000), name: 'long.wav' };
    let lengthS = 0;
    const { result, asked } = await medical(
      async ({ body }: Asked) => {
        const bytes = new Uint8Array(await ((body as FormData).get('file') as File).arrayBuffer());
        const partS = parseWav(bytes).samples[0]!.length / 8_000;
        lengthS += partS;
        const segments = [{ start: 0, end: partS, text: 'fine', speaker: 'SPEAKER_00' }];
        return Response.json({ success: true, text: 'fine', segments, unique_speakers: ['SPEAKER_00'] });
      },
      source,
      true,
      32_044,
    );
    expect(asked.length).toBeGreaterThan(2);
    expect(lengthS).toBeCloseTo(5, 6);
    const { segments, text, speakers, parts } = result as Awaited<ReturnType<typeof transcribeMedical>>;
    expect(parts).toBe(asked.length);
    expect(text).toBe(Array.from({ length: parts }, () => 'fine').join(' '));
    expect(speakers.slice(0, 2)).toEqual(['1/SPEAKER_00', '2/SPEAKER_00']);
    for (const [index, { startS }] of segments.entries()) expect(startS).toBeCloseTo(segments[index - 1]?.endS ?? 0, 6);
    expect(segments.at(-1)!.endS).toBeCloseTo(5, 6);
  });

  it.each([
    { note: 'a short recording', bytes: 1_000, redirect: 'manual' },
    // In any other mode the runtime keeps a second copy of the body.
    { note: 'a part of a long one', bytes: 9 * 1024 * 1024, redirect: 'error' },
  ])('sends $note piece by piece, with no copy of what is large', async ({ bytes, redirect }) => {
    const source = { bytes: new Uint8Array(bytes), name: 'visit.mp3' };
    const { asked } = await medical(() => Response.json({ text: 'fine' }), source);
    expect(asked[0]!.redirect).toBe(redirect);
    const sizes: number[] = [];
    for await (const piece of ((asked[0]!.body as FormData).get('file') as File).stream()) sizes.push(piece.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(bytes);
  });

  it('fails as a whole when a part fails', async () => {
    const source = { bytes: wavFile(new Int16Array(8_000 * 5), 8_000), name: 'long.wav' };
    let requests = 0;
    const { result } = await medical(
      () => ((requests += 1) === 2 ? Response.json({ detail: 'odd' }, { status: 400 }) : Response.json({ text: 'fine' })),
      source,
      false,
      32_044,
    );
    expect(result).toMatchObject({ status: 400 });
  });
});
