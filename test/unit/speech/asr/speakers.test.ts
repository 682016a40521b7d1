import { describe, expect, it, test } from 'vitest';
import { readSpeakerProfile, registeredDate, Speakers } from '../../../../src/speech/asr/speakers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { FixedToken } from '../../../../src/speech/client/credentials.ts';
import { SpeechHttp } from '../../../../src/speech/client/requests.ts';
import { API_KEY, FakeFetch } from '../fake-platform.ts';

const { signal } = new AbortController();
const clip = { bytes: new Uint8Array(8), name: 'a.wav' };

function speakersOn(answer: unknown) {
  const fake = new FakeFetch(() => Response.json(answer, { headers: { 'x-request-id': 'req-1' } }));
  const http = new SpeechHttp({ tokens: new FixedToken(API_KEY), clock: new ManualClock(), fetch: fake.fetch, timeoutMs: 1_000 });
  const at = (baseUrl: string) => () => ({ http, baseUrl });
  return { speakers: new Speakers({ write: at('https://asr.example'), read: at('https://alt.example') }), fake };
}

describe('speakers', () => {
  test.each([
    { answer: { speaker: 'unknown', confidence: 0.2 }, speaker: null },
    { answer: { speaker: null }, speaker: null },
    { answer: { speaker: 'Asha', confidence: 0.9 }, speaker: 'Asha' },
  ])('identifies $answer.speaker as $speaker [147]', async ({ answer, speaker }) => {
    const { speakers, fake } = speakersOn(answer);
    const match = await speakers.identify(clip, 'clinic', signal);
    expect(match).toEqual({ speaker, confidence: answer.confidence, requestId: 'req-1' });
    expect(fake.asked[0]!.url.href).toBe('https://alt.example/v1/speakers/identify');
  });

  it('deletes by a form, which names the project only when there is one', async () => {
    const { speakers, fake } = speakersOn({ success: true });
    await speakers.delete({ name: 'Asha' }, signal);
    expect(fake.asked[0]).toMatchObject({ method: 'DELETE', url: new URL('https://asr.example/v1/speakers/delete') });
    expect([...(fake.asked[0]!.body as FormData)]).toEqual([['name', 'Asha']]);
  });

  it('takes success: false for a refusal', async () => {
    const { speakers } = speakersOn({ success: false, message: 'no voice in it' });
    await expect(speakers.register({ name: 'Asha' }, clip, signal)).rejects.toThrow('no voice in it');
  });

  test.each(['', ' ', 'Unknown'])('refuses the name "%s" before anything is sent', async (name) => {
    const { speakers, fake } = speakersOn({});
    await expect(speakers.register({ name }, clip, signal)).rejects.toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    expect(fake.asked).toHaveLength(0);
  });
});

describe('speaker profiles', () => {
  test.each([
    { written: '2026-03-01T10:20:30', utc: '2026-03-01T10:20:30.000Z' },
    { written: '2026-03-01T10:20:30.123456', utc: '2026-03-01T10:20:30.123Z' },
    { written: '2026-03-01 10:20:30', utc: '2026-03-01T10:20:30.000Z' },
    { written: '2026-03-01T10:20:30+05:30', utc: '2026-03-01T04:50:30.000Z' },
    { written: '2026-03-01', utc: '2026-03-01T00:00:00.000Z' },
  ])('keeps $written as it is and reads it as $utc in any zone [146]', ({ written, utc }) => {
    const zone = process.env['TZ'];
    try {
      for (const TZ of ['Asia/Kolkata', 'America/New_York']) {
        process.env['TZ'] = TZ;
        const profile = readSpeakerProfile.parse({ name: 'Asha', project: 'clinic', registered_at: written });
        expect(profile.registeredAt).toBe(written);
        expect(registeredDate(profile)?.toISOString()).toBe(utc);
      }
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  it('gives no date for what is none', () => {
    expect(registeredDate({ registeredAt: 'yesterday' })).toBeUndefined();
    expect(registeredDate({ registeredAt: undefined })).toBeUndefined();
  });
});
