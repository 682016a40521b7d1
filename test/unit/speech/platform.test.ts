import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SpeechPlatform, type SpeechPlatformSettings } from '../../../src/speech/platform.ts';
import { type Answer, API_KEY, AUTH_URL, type Asked, FakeFetch, minting, settle } from './fake-platform.ts';

const wav = { bytes: new Uint8Array(8), name: 'a.wav' };

function platformOn(service: (asked: Asked) => Answer, settings: Partial<SpeechPlatformSettings> = {}) {
  const mint = minting({ expires_in: 86_400 });
  const fake = new FakeFetch((asked) => (asked.url.origin === AUTH_URL ? mint() : service(asked)));
  const clock = new ManualClock();
  const urls = { authUrl: AUTH_URL, asrUrl: 'https://asr.example', ttsUrl: 'https://tts.example' };
  const platform = new SpeechPlatform(
    { ...urls, apiKey: API_KEY, ...settings },
    { clock, logger: silentLogger, fetch: fake.fetch },
  );
  onTestFinished(() => platform[Symbol.asyncDispose]());
  return { platform, clock, fake };
}

/** A service that keeps its answers back until they are asked for. */
class SlowService {
  readonly #waiting: (() => void)[] = [];
  most = 0;

  readonly answer = ({ body }: Asked): Promise<Response> =>
    new Promise((resolve) => {
      const file = (body as FormData).get('file');
      this.#waiting.push(() => resolve(Response.json({ text: file instanceof File ? file.name : '' })));
      this.most = Math.max(this.most, this.#waiting.length);
    });

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The one that came last goes first. */
  answerOne(): void {
    this.#waiting.pop()?.();
  }
}

describe('speech platform', () => {
  it('has sixteen transcriptions under way at most, and gives each its own answer [175]', async () => {
    const service = new SlowService();
    const { platform } = platformOn(service.answer);
    const names = Array.from({ length: 20 }, (_, number) => `${number}.wav`);
    const all = Promise.all(
      names.map((name) => platform.transcribe({ ...wav, name }, {}, new AbortController().signal).then(({ text }) => text)),
    );
    for (let answered = 0; answered < names.length; answered += 1) {
      await settle();
      service.answerOne();
    }
    expect(await all).toEqual(names);
    expect(service.most).toBe(16);
  });

  it('leaves a live call its place when batch work waits', async () => {
    const service = new SlowService();
    const { platform } = platformOn(service.answer, { slotsPerKey: 2 });
    const live = platform.reserveLive();
    const { signal } = new AbortController();
    const both = [platform.transcribe(wav, {}, signal), platform.transcribe(wav, {}, signal)];
    await settle();
    expect(service.waiting).toBe(1);
    expect(platform.slotGauges.slice(0, 2)).toEqual([
      { service: 'asr', priority: 'live', held: 1, waiting: 0, limit: 2 },
      { service: 'asr', priority: 'batch', held: 1, waiting: 1, limit: 2 },
    ]);
    expect(platform.reserveLive()).toBeUndefined();
    live!.release();
    await settle();
    expect(service.waiting).toBe(2);
    service.answerOne();
    service.answerOne();
    await Promise.all(both);
    expect(platform.reserveLive()).toBeDefined();
  });

  it('gives each realtime session a slot until it is over, and refuses one where none is free [175]', async () => {
    // A mint that never answers, so that no socket is opened.
    const never = (): Promise<Response> => new Promise(() => undefined);
    const { platform } = platformOn(never, { slotsPerKey: 2, authUrl: 'https://slow.example' });
    const leaving = new AbortController();
    const options = { language: 'en', sampleRateHz: 8_000 };
    const open = (sampleRateHz = 8_000) => platform.recognise({ ...options, sampleRateHz }, leaving.signal);
    const held = (): number => platform.slotGauges[0]!.held;
    expect(() => open(-1)).toThrow(RangeError);
    expect(held()).toBe(0);
    const [one, two] = [open(), open()];
    expect(held()).toBe(2);
    expect(open).toThrow(expect.objectContaining({ code: 'OFFHOOK_SPEECH_OVERLOADED', retryable: true }));
    await one[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
    expect(held()).toBe(1);
    const commit = expect(two.commit()).rejects.toThrow('hung up');
    leaving.abort(new Error('hung up'));
    await commit;
    expect(held()).toBe(0);
  });

  it('waits two minutes for a transcription when nothing else is set, and stops at once when aborted [92]', async () => {
    const { platform, clock, fake } = platformOn(() => new Promise<Response>(() => undefined));
    const leaving = new AbortController();
    const failure = expect(platform.transcribe(wav, {}, leaving.signal)).rejects.toThrow('hung up');
    await settle();
    clock.advance(119_999);
    await settle();
    clock.advance(1);
    await settle();
    // The attempt was given up, and the next one waits its second.
    expect(fake.asked).toHaveLength(2);
    clock.advance(1_000);
    await settle();
    expect(fake.asked).toHaveLength(3);
    leaving.abort(new Error('hung up'));
    await failure;
    expect(clock.pendingTimers).toBe(0);
  });

  it('stops a transcription when it is closed, and leaves no timer', async () => {
    const { platform, clock } = platformOn(() => new Promise<Response>(() => undefined));
    const failure = expect(platform.transcribe(wav, {}, new AbortController().signal)).rejects.toThrow('closed');
    await settle();
    await platform[Symbol.asyncDispose]();
    await failure;
    expect(clock.pendingTimers).toBe(0);
  });

  it('watches the health of both services, and stops when it is closed', async () => {
    let well = true;
    const { platform, clock, fake } = platformOn(({ url }) =>
      url.hostname.startsWith('asr') ? Response.json({ ok: true }) : Response.json({ status: well ? 'ok' : 'starting' }),
    );
    expect(platform.isUp).toBe(true);
    platform.watchHealth();
    await settle();
    expect(platform.isUp).toBe(true);
    well = false;
    clock.advance(5_000);
    await settle();
    expect(platform.isUp).toBe(false);
    well = true;
    clock.advance(5_000);
    await settle();
    expect(platform.isUp).toBe(true);
    await platform[Symbol.asyncDispose]();
    const before = fake.asked.length;
    clock.advance(60_000);
    await settle();
    expect(fake.asked).toHaveLength(before);
    expect(clock.pendingTimers).toBe(0);
  });

  it('asks Variant B where its address alone was given', async () => {
    const fake = new FakeFetch(({ url }) => Response.json(url.pathname.endsWith('/health') ? { ok: false } : {}));
    const settings = { authUrl: AUTH_URL, asrAltUrl: 'https://gw.example/alt', apiKey: API_KEY };
    await using platform = new SpeechPlatform(settings, { clock: new ManualClock(), fetch: fake.fetch });
    const { signal } = new AbortController();
    expect(await platform.health(signal)).toMatchObject({ recognition: { healthy: false }, synthesis: undefined });
    expect(await platform.checkHealth()).toBe(false);
    await Promise.allSettled([platform.languages(signal)]);
    const asked = fake.asked.map(({ url, headers }) => [url.href, headers.get('authorization')]);
    expect(asked).toEqual([
      ['https://gw.example/alt/health', null],
      ['https://gw.example/alt/health', null],
      ['https://gw.example/alt/languages', `Bearer ${API_KEY}`],
    ]);
  });

  it('is down when a service does not answer', async () => {
    const { platform } = platformOn(() => new TypeError('fetch failed'));
    expect(await platform.checkHealth()).toBe(false);
  });

  it('is still up when it is closed during a health check', async () => {
    const { platform, clock } = platformOn(() => new Promise<Response>(() => undefined));
    const checked = platform.checkHealth();
    await settle();
    await platform[Symbol.asyncDispose]();
    expect(await checked).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('has one watch however often health is asked for', async () => {
    const { platform, clock } = platformOn(() => Response.json({ ok: true }));
    await Promise.all([platform.checkHealth(), platform.checkHealth(), platform.checkHealth()]);
    expect(clock.pendingTimers).toBe(1);
  });

  it('asks every service below the path of its address', async () => {
    const { platform, fake } = platformOn(({ url }) => Response.json(url.pathname.endsWith('/list') ? { speakers: [] } : {}), {
      authUrl: `${AUTH_URL}/auth`,
      asrUrl: 'https://gw.example/asr',
      asrAltUrl: 'https://gw.example/alt/',
      medUrl: 'https://gw.example/med',
      ttsUrl: 'https://gw.example/tts',
    });
    const { signal } = new AbortController();
    const done = [
      platform.transcribe(wav, {}, signal),
      platform.transcribeMedical(wav, {}, signal),
      platform.languages(signal),
      platform.health(signal),
      platform.speakers.delete({ name: 'Asha' }, signal),
      platform.speakers.list('clinic', signal),
      platform.synthesize({ text: 'Hello.', voice: 'Nisha' }, signal).then((spoken) => spoken.close()),
    ];
    await Promise.allSettled(done);
    expect(fake.asked.map(({ url }) => url.pathname).sort()).toEqual([
      '/alt/v1/speakers/list',
      '/asr/health',
      '/asr/languages',
      '/asr/v1/audio/transcriptions',
      '/asr/v1/speakers/delete',
      '/auth/api/auth/token',
      '/med/transcribe',
      '/tts/health',
      '/tts/v1/audio/speech',
    ]);
  });
});
