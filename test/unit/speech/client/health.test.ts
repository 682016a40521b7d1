import { describe, expect, it, test } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { serviceHealth } from '../../../../src/speech/client/health.ts';
import { type Answer, FakeFetch, settle } from '../fake-platform.ts';

const never = new AbortController().signal;
const none = { voices: [], defaultVoice: undefined };

function asking(answer: () => Answer, signal = never) {
  const fake = new FakeFetch(answer);
  const clock = new ManualClock();
  return { fake, clock, health: serviceHealth(fake.fetch, clock, 'http://tts.example:81/', signal) };
}

describe('health', () => {
  test.each([
    { note: 'recognition', body: { ok: true }, health: { healthy: true, ...none } },
    { note: 'recognition that is unwell', body: { ok: false }, health: { healthy: false, ...none } },
    {
      note: 'synthesis',
      body: { status: 'ok', voices: ['Varun', 'Nisha'], default_voice: 'Varun' },
      health: { healthy: true, voices: ['Varun', 'Nisha'], defaultVoice: 'Varun' },
    },
    {
      note: 'the older generation',
      body: { status: 'healthy', services: { asr: { status: 'ok' } } },
      health: { healthy: true, ...none },
    },
    { note: 'a service that starts', body: { status: 'starting' }, health: { healthy: false, ...none } },
  ])('gives one shape for $note [150]', async ({ body, health }) => {
    const { fake, health: given } = asking(() => Response.json(body));
    expect(await given).toEqual(health);
    expect(fake.asked[0]!.url.href).toBe('http://tts.example:81/health');
    expect([...fake.asked[0]!.headers]).toEqual([]);
  });

  it('takes a refusal as unwell', async () => {
    expect(await asking(() => new Response('warming up', { status: 503 })).health).toEqual({ healthy: false, ...none });
  });

  test.each(['<html>', '"ok"', '{"voices":7}', ''])('refuses the answer %j', async (text) => {
    await expect(asking(() => new Response(text)).health).rejects.toMatchObject({ code: 'OFFHOOK_SPEECH_PROTOCOL' });
  });

  it('tells a lost connection as unavailable', async () => {
    await expect(asking(() => new TypeError('fetch failed')).health).rejects.toMatchObject({
      code: 'OFFHOOK_SPEECH_UNAVAILABLE',
    });
  });

  it('waits three seconds for an answer', async () => {
    const { clock, health } = asking(() => new Promise<Response>(() => undefined));
    let failed = false;
    const failure = expect(health.finally(() => (failed = true))).rejects.toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    clock.advance(2_999);
    await settle();
    expect(failed).toBe(false);
    clock.advance(1);
    await failure;
    expect(clock.pendingTimers).toBe(0);
  });

  it('stops when aborted, with the reason', async () => {
    const leaving = new AbortController();
    const { clock, health } = asking(() => new Promise<Response>(() => undefined), leaving.signal);
    leaving.abort(new Error('closed'));
    await expect(health).rejects.toThrow('closed');
    expect(clock.pendingTimers).toBe(0);
  });
});
