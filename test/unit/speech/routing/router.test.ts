import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { botSettings } from '../../../../src/config/bots.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { SpeechOverloadedError, SpeechRequestError } from '../../../../src/speech/client/errors.ts';
import { Slots } from '../../../../src/speech/client/slots.ts';
import { SpeechAuthError } from '../../../../src/speech/client/errors.ts';
import type { RecogniserCapabilities, SpeechSwitch, SynthesizerCapabilities } from '../../../../src/speech/port.ts';
import type { SpeakingBot } from '../../../../src/speech/routing/choice.ts';
import { SpeechRouter, type SpeechRouterOptions } from '../../../../src/speech/routing/router.ts';
import type { SpeechVendor } from '../../../../src/speech/vendors/vendor.ts';
import { ScriptedRecogniser } from './scripted-recogniser.ts';
import { ScriptedSynthesizer } from './scripted-synthesizer.ts';

const bot = (speech: unknown = {}, more: Readonly<Record<string, unknown>> = {}): SpeakingBot =>
  botSettings.parse({ name: 'clinic', voice: 'Nisha', dialog: { kind: 'module', file: 'x.js' }, speech, ...more });

interface Given {
  readonly recognition?: Partial<RecogniserCapabilities>;
  readonly synthesis?: Partial<SynthesizerCapabilities>;
}

/** A router over the platform and these vendors. */
function route(given: Readonly<Record<string, Given>> = { acme: {}, zeta: {} }, more: Partial<SpeechRouterOptions> = {}) {
  const clock = new ManualClock(0);
  const platformSlots = new Slots(2);
  const recognisers = new Map<string, ScriptedRecogniser>();
  const synthesizers = new Map<string, ScriptedSynthesizer>();
  const make = (name: string, { recognition, synthesis }: Given) => {
    const recogniser = new ScriptedRecogniser(clock, undefined, recognition);
    const synthesizer = new ScriptedSynthesizer(clock, recognisers.size, [{ bytes: 160 }], synthesis);
    recognisers.set(name, recogniser);
    synthesizers.set(name, synthesizer);
    return { recogniser, synthesizer };
  };
  const platform = {
    ...make('platform', {}),
    isUp: true,
    get freeSlots() {
      return platformSlots.free;
    },
    slotGauges: [],
    reserveLive: (lane?: number) => platformSlots.tryReserve('live', lane),
    readyLive: () => platformSlots.ready(),
    warm: () => undefined,
    prepare: async () => undefined,
  };
  const vendors = Object.entries(given).map(([name, each]): SpeechVendor => ({
    name,
    title: name,
    settings: z.object({}),
    secrets: z.object({}),
    services: ['recognition', 'synthesis'],
    prices: [],
    needs: 'a key',
    open: () => ({ ...make(name, each), [Symbol.asyncDispose]: async () => undefined }),
  }));
  const router = new SpeechRouter({
    platform,
    vendors,
    configs: new Map(vendors.map(({ name }) => [name, { settings: {}, secrets: {} }])),
    defaults: { recogniser: ['platform'], synthesizer: ['platform'] },
    clock,
    logger: silentLogger,
    ...more,
  });
  const begin = (of: SpeakingBot) => {
    const speech = router.reserve(of);
    if (speech === undefined) throw new Error('no slot is free');
    const news: SpeechSwitch[] = [];
    speech.listen((each) => void news.push(each));
    const open = (language: string) => speech.recogniser.open({ language, sampleRateHz: 8_000 }, () => undefined);
    const say = async (language: string, voice: string): Promise<void> => {
      const { signal } = new AbortController();
      for await (const _ of speech.synthesizer.speak({ text: 'Hello.', voice, language }, signal));
    };
    return { speech, open, say, news: () => news.map(({ service, by, reason }) => `${service} ${by} ${reason}`) };
  };
  const sessionsOf = (name: string) => recognisers.get(name)?.sessions.length ?? 0;
  const voicesOf = (name: string) => synthesizers.get(name)?.asked.map(({ voice }) => voice);
  return { router, clock, platform, platformSlots, recognisers, synthesizers, begin, sessionsOf, voicesOf };
}

describe('a call', () => {
  it('uses the speech platform by default', async () => {
    const { begin, sessionsOf, voicesOf } = route();
    const call = begin(bot());
    call.open('en');
    await call.say('en', 'Nisha');
    expect([sessionsOf('platform'), sessionsOf('acme'), voicesOf('platform')]).toEqual([1, 0, ['Nisha']]);
    expect(call.news()).toEqual(['recognition platform start', 'synthesis platform start']);
  });

  it('has another recogniser and another voice in another language', async () => {
    const { begin, sessionsOf, voicesOf } = route({ acme: {}, zeta: { synthesis: { defaultVoice: 'zoe' } } });
    const call = begin(
      bot({
        recogniser: 'acme',
        voices: { acme: 'ann' },
        languages: {
          hi: { recogniser: 'zeta', synthesizer: ['zeta', 'acme'] },
          ta: { synthesizer: 'acme', voices: { acme: 'tam' } },
        },
      }),
    );
    call.open('en').abort();
    call.open('hi-IN').abort();
    for (const language of ['en', 'hi-IN', 'ta']) await call.say(language, 'Nisha');
    await call.say('hi', 'asked-for');
    expect([sessionsOf('acme'), sessionsOf('zeta'), sessionsOf('platform')]).toEqual([1, 1, 0]);
    expect([voicesOf('platform'), voicesOf('zeta'), voicesOf('acme')]).toEqual([['Nisha'], ['zoe', 'asked-for'], ['tam']]);
    expect(call.news().slice(0, 2)).toEqual(['recognition acme start', 'recognition zeta language']);
  });

  it('is spoken to with the words of all bots and its own, whoever speaks', async () => {
    const { router, begin, synthesizers } = route({ acme: {} }, { pronounce: { hello: 'hallo', Nisha: 'Neesha' } });
    const ours = bot({ languages: { hi: { synthesizer: 'acme' } } }, { pronounce: { hello: 'hullo' } });
    const call = begin(ours);
    for (const language of ['en', 'hi']) await call.say(language, 'Nisha');
    const spoken = (name: string) => synthesizers.get(name)?.asked.map(({ text }) => text);
    expect([spoken('platform'), spoken('acme')]).toEqual([['hullo.'], ['hullo.']]);
    const asked = { text: 'Hello, Nisha.', voice: 'Nisha', language: 'en' };
    expect(router.requestFor('platform', bot(), asked).text).toBe('hallo, Neesha.');
  });

  it('goes to one of its vendors that knows the language', () => {
    const { begin, sessionsOf } = route({ acme: { recognition: { languages: new Set(['en']) } }, zeta: {} });
    begin(bot({ recogniser: ['acme', 'zeta'] }, { language: 'hi' })).open('hi');
    expect([sessionsOf('acme'), sessionsOf('zeta')]).toEqual([0, 1]);
  });

  it('begins with the second for a minute after the first has failed in another call', () => {
    const { begin, sessionsOf, recognisers, clock } = route();
    const both = bot({ recogniser: ['acme', 'zeta'] });
    begin(both).open('en');
    recognisers.get('acme')?.last.emit({ type: 'closed', error: new Error('gone') });
    const next = begin(both);
    next.open('en');
    expect(next.news()).toEqual(['recognition zeta cooling-down']);
    clock.advance(60_000);
    begin(both).open('en');
    expect([sessionsOf('acme'), sessionsOf('zeta')]).toEqual([2, 2]);
  });

  it.each([new SpeechRequestError('no such voice'), new SpeechOverloadedError('too many wait')])(
    'begins with the first although a request of another call could not be served: $message',
    async (error) => {
      const { begin, synthesizers } = route();
      const both = bot({ synthesizer: ['acme', 'zeta'] });
      const acme = synthesizers.get('acme');
      if (acme !== undefined) acme.script = [error];
      const call = begin(both);
      await call.say('en', 'Nisha');
      await call.say('en', 'Nisha');
      if (acme !== undefined) acme.script = [{ bytes: 160 }];
      const next = begin(both);
      await next.say('en', 'Nisha');
      expect([call.news(), acme?.asked.length]).toEqual([['synthesis zeta failed'], 2]);
      expect(next.news()).toContain('synthesis acme start');
    },
  );

  it('does so too where the first has failed in another process, which is told once a second at most', () => {
    const told: string[] = [];
    const other = route();
    const tellFailure = (service: SpeechSwitch['service'], name: string): void => {
      told.push(`${service} ${name}`);
      other.router.failedElsewhere(service, name);
    };
    const { begin, recognisers, clock } = route(undefined, { tellFailure });
    const both = bot({ recogniser: ['acme', 'zeta'] });
    for (const call of [begin(both), begin(both)]) call.open('en');
    const sessions = recognisers.get('acme')?.sessions ?? [];
    for (const session of sessions) session.emit({ type: 'closed', error: new Error('gone') });
    expect([sessions.length, told, other.router.reservePlace(both)?.vendor]).toEqual([2, ['recognition acme'], 'zeta']);
    clock.advance(60_000);
    begin(both).open('en');
    recognisers.get('acme')?.last.emit({ type: 'closed', error: new Error('gone') });
    expect(told).toHaveLength(2);
    other.clock.advance(60_000);
    expect(other.router.reservePlace(both)?.vendor).toBe('acme');
  });

  it('measures no sentence that came from memory, however long it took', async () => {
    const measured: string[] = [];
    const { router, begin } = route(undefined, {
      watch: { firstAudio: (name, afterMs) => void measured.push(`${name} ${afterMs}`) },
    });
    const call = begin(bot({ synthesizer: 'acme', voices: { acme: 'ann' } }));
    await call.say('en', 'Nisha');
    expect(measured).toEqual(['acme 0']);
    await router.prepare('acme', [{ text: 'Hello.', voice: 'ann', language: 'en' }]);
    await call.say('en', 'Nisha');
    expect(measured).toHaveLength(1);
  });

  it('stays with the one that took over, also in a session that is opened later', () => {
    const { begin, recognisers, sessionsOf, clock } = route();
    const call = begin(bot({ recogniser: ['acme', 'zeta'] }));
    const session = call.open('en');
    recognisers.get('acme')?.last.emit({ type: 'closed', error: new Error('gone') });
    clock.advance(120_000);
    call.open('en');
    session.abort();
    expect([sessionsOf('acme'), sessionsOf('zeta')]).toEqual([1, 2]);
  });
});

describe('recognition slots', () => {
  it('are those of whoever a bot uses', () => {
    const { router, platformSlots } = route({ acme: { recognition: { sessionsPerKey: 1 } } });
    const acme = bot({ recogniser: 'acme' });
    const speech = router.reserve(acme);
    expect([router.free(acme), platformSlots.use.live, router.reserve(acme)]).toEqual([0, 0, undefined]);
    speech?.release();
    expect(router.free(acme)).toBe(1);
  });

  it('are taken of the second when the first has none', () => {
    const { begin } = route({ acme: { recognition: { sessionsPerKey: 1 } } });
    const both = bot({ recogniser: ['acme', 'platform'] });
    begin(both);
    const second = begin(both);
    second.open('en');
    expect(second.news()).toEqual(['recognition platform full']);
  });

  it('are left to calls by sessions that only stand by, at least half of them', () => {
    const { begin, router, sessionsOf } = route({ acme: { recognition: { sessionsPerKey: 4, mayIdle: true } }, zeta: {} });
    const both = bot({ recogniser: ['zeta', 'acme'] });
    for (let call = 0; call < 4; call += 1) begin(both).open('en');
    expect([sessionsOf('zeta'), sessionsOf('acme'), router.free(bot({ recogniser: 'acme' }))]).toEqual([4, 2, 2]);
  });

  it('are one for a call that opens a session in another language while all are taken', () => {
    const { begin, platformSlots } = route();
    const [one, other] = [begin(bot()), begin(bot())];
    const first = one.open('en');
    const second = one.open('hi');
    first.abort();
    expect(platformSlots.free).toBe(0);
    second.abort();
    other.speech.release();
    one.speech.release();
    expect(platformSlots.free).toBe(2);
  });

  it('are given back with the vendor that a call leaves for another', () => {
    const { begin, platformSlots } = route();
    const call = begin(bot({ recogniser: 'platform', languages: { hi: { recogniser: 'acme' } } }));
    const first = call.open('en');
    call.open('hi');
    first.abort();
    expect(platformSlots.free).toBe(2);
  });

  it('beside those of calls are what another process has left', () => {
    const { begin, platformSlots, sessionsOf } = route({ acme: {} }, { spare: () => undefined });
    const call = begin(bot({ recogniser: ['platform', 'acme'] }));
    expect(call.speech.spareRecognition()).toBeUndefined();
    expect([platformSlots.free, sessionsOf('acme')]).toEqual([1, 0]);
  });

  it('are shared among processes, with half of those of a vendor that only stands by', async () => {
    const { router } = route({ acme: { recognition: { sessionsPerKey: 40 } }, zeta: { recognition: { sessionsPerKey: 8 } } });
    const bots = [bot({ recogniser: ['acme', 'zeta'] })];
    expect(await router.shareSpare({ bots, calls: 10, processes: 2 })).toEqual({ platform: 0, acme: 7, zeta: 2 });
    expect(router.free(bots[0] ?? bot())).toBe(40 - 14 + 8 - 4);
  });
});

it('shares spare slots again for other bots, and keeps those free that live calls may need', async () => {
  const limits = { acme: { recognition: { sessionsPerKey: 40 } }, zeta: { recognition: { sessionsPerKey: 40 } } };
  const { router } = route(limits);
  const [acme, zeta] = [bot({ recogniser: 'acme' }), bot({ recogniser: 'zeta' })];
  expect(await router.shareSpare({ bots: [acme], calls: 30, processes: 2 })).toMatchObject({ acme: 2, zeta: 10 });
  expect(router.free(zeta)).toBe(20);
  const calls = Array.from({ length: 30 }, () => router.reserve(acme));
  // The share of a vendor that calls still hold is what they leave.
  expect(await router.shareSpare({ bots: [zeta], calls: 30, processes: 2 })).toMatchObject({ acme: 5, zeta: 2 });
  expect([router.free(acme), router.free(zeta)]).toEqual([0, 36]);
  for (const call of calls) call?.release();
  expect(await router.shareSpare({ bots: [acme], calls: 30, processes: 2 })).toMatchObject({ acme: 2, zeta: 10 });
  expect(router.free(acme)).toBe(36);
});

it('starts despite an unused vendor that cannot be opened, and refuses bots that would use it', () => {
  const broken: SpeechVendor = {
    name: 'rusty',
    title: 'Rusty',
    settings: z.object({}),
    secrets: z.object({}),
    services: [],
    prices: [],
    needs: 'a key',
    open() {
      throw new SpeechAuthError('the key is wrong');
    },
  };
  const more = { vendors: [broken], configs: new Map([['rusty', { settings: {}, secrets: {} }]]) };
  const user = bot({ languages: { hi: { recogniser: ['platform', 'rusty'] } } });
  const { router } = route({}, { ...more, bots: [bot()] });
  expect([router.names, router.isUp(bot())]).toEqual([['platform'], true]);
  router.check([bot()]);
  expect(() => router.check([bot(), user])).toThrow(/rusty could not be opened .*: the key is wrong; correct/u);
  expect(() => route({}, { ...more, bots: [user] })).toThrow('the key is wrong');
  const defaults = { recogniser: ['platform'], synthesizer: ['rusty'] };
  expect(() => route({}, { ...more, defaults, bots: [] })).toThrow('the key is wrong');
});

it('refuses no call of a bot that does not use a platform that is down', () => {
  const { router, platform } = route();
  platform.isUp = false;
  expect(router.isUp(bot())).toBe(false);
  expect(router.isUp(bot({ recogniser: 'acme', synthesizer: 'acme' }))).toBe(true);
  expect(router.isUp(bot({ recogniser: ['platform', 'acme'], synthesizer: ['platform', 'acme'] }))).toBe(true);
  expect(router.isUp(bot({ recogniser: 'acme' }))).toBe(false);
});

it('asks a vendor for no longer text than it takes, and keeps prepared sentences of each vendor apart', async () => {
  const { router, begin, voicesOf } = route({ acme: { synthesis: { longestText: 12 } }, zeta: {} });
  const acme = bot({ synthesizer: 'acme' });
  await router.prepare('acme', [{ text: 'Hello there. How are you today?', voice: 'ann', language: 'en' }]);
  expect(voicesOf('acme')?.length).toBeGreaterThan(1);
  const before = voicesOf('acme')?.length;
  const { signal } = new AbortController();
  const request = { text: 'Hello there. How are you today?', voice: 'ann', language: 'en' };
  for await (const _ of begin(acme).speech.synthesizer.speak(request, signal));
  expect(voicesOf('acme')?.length).toBe(before);
  for await (const _ of begin(bot({ synthesizer: 'zeta' })).speech.synthesizer.speak(request, signal));
  expect(voicesOf('zeta')).toEqual(['ann']);
});
