import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLanguage, languages, unsupportedLanguage } from '../../../src/platform/languages.ts';
import { splitBoostPhrases } from '../../../src/platform/server/asr/language-recognition.ts';
import { readInitFrame, deltaOf } from '../../../src/platform/server/asr/realtime-protocol.ts';
import { MintRate } from '../../../src/platform/server/auth/token-service.ts';
import { behaviourOf, finalDelayMs } from '../../../src/platform/server/asr/behaviour.ts';
import { redactTarget } from '../../../src/platform/server/listener/http-app.ts';
import { Slots } from '../../../src/platform/server/listener/limits.ts';

describe('languages', () => {
  it('are 145, each code and name once, all codes ISO-shaped', () => {
    expect(languages).toHaveLength(145);
    expect(new Set(languages.map(({ code }) => code)).size).toBe(145);
    expect(new Set(languages.map(({ name }) => name)).size).toBe(145);
    for (const { code } of languages) expect(code).toMatch(/^[a-z]{2,3}$/);
  });

  it.each([
    ['hi', 'hi'],
    ['HI', 'hi'],
    ['Hindi', 'hi'],
    [' hindi ', 'hi'],
    ['en-IN', 'en'],
    ['haitian creole', 'ht'],
    ['klingon', undefined],
    ['', undefined],
    ['constructor', undefined],
  ])('finds %j as %s', (word, code) => expect(findLanguage(word)?.code).toBe(code));

  it('lists all supported codes in the error, and shortens the requested one', () => {
    const text = unsupportedLanguage('x'.repeat(10_000));
    for (const { code } of languages) expect(text).toContain(` ${code}`);
    expect(text.length).toBeLessThan(1500);
  });
});

describe('the redacted target', () => {
  it.each([
    ['/ws?token=abc&voice=Rajesh', '/ws?token=[removed]&voice=Rajesh'],
    ['/ws?TOKEN=abc', '/ws?TOKEN=[removed]'],
    ['/ws?input=hello%20there&speed=2', '/ws?input=[removed]&speed=2'],
    ['/ws?%74oken=abc', '/ws?%74oken=[removed]'],
    ['/ws?a=1?token=x', '/ws?a=[removed]'],
    ['/health', '/health'],
  ])('shows %s as %s', (target, shown) => expect(redactTarget(target)).toBe(shown));

  it('never holds the value of a token', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w.-]{20,60}$/), fc.string(), (token, other) => {
        expect(redactTarget(`/ws?${encodeURIComponent(other)}=1&token=${token}&voice=x`)).not.toContain(token);
      }),
    );
  });
});

it('slots count for each owner and are given back once', () => {
  const slots = new Slots(2);
  const first = slots.take('one')!;
  expect(slots.take('one')).toBeDefined();
  expect(slots.take('one')).toBeUndefined();
  expect(slots.take('two')).toBeDefined();
  first();
  first();
  expect(slots.held('one')).toBe(1);
  expect(slots.take('one')).toBeDefined();
  expect(slots.take('one')).toBeUndefined();
});

it('the mint rate slides: a place comes free a minute after each mint, and refused ones do not count', () => {
  const rate = new MintRate(2);
  expect([rate.waitSeconds('k', 0), rate.waitSeconds('k', 30_000)]).toEqual([0, 0]);
  expect(rate.waitSeconds('k', 30_500)).toBe(30);
  expect(rate.waitSeconds('k', 59_999)).toBe(1);
  expect(rate.waitSeconds('k', 60_000)).toBe(0);
  expect(rate.waitSeconds('k', 60_001)).toBe(30);
  expect(rate.waitSeconds('other', 60_001)).toBe(0);
});

describe('behaviour', () => {
  it('is tidy when plain and late, blank and unmarked when hosted-like; knobs win', () => {
    expect(behaviourOf('plain')).toMatchObject({ endOfUtterance: true, partialEveryMs: 200, finalDelaysMs: [0] });
    const hosted = behaviourOf('hosted-like', { partialEveryMs: 100 });
    expect(hosted).toMatchObject({ endOfUtterance: false, partialEveryMs: 100, endpointSilenceMs: 700 });
  });

  it('takes its delays in turn', () => {
    const hosted = behaviourOf('hosted-like');
    expect([0, 1, 2, 3].map((index) => finalDelayMs(hosted, index))).toEqual([300, 1200, 3000, 300]);
    expect(finalDelayMs(behaviourOf('plain', { finalDelaysMs: [] }), 5)).toBe(0);
  });
});

describe('boost phrases', () => {
  it.each([
    ['a||b\nc', ['a', 'b', 'c']],
    ['a|b', ['a|b']],
    [' a || || b\r\nc ', ['a', 'b', 'c']],
    ['', []],
    [['x||y', ' '], ['x||y']],
  ])('splits %j', (given, terms) => expect(splitBoostPhrases(given)).toEqual(terms));
});

describe('the init frame', () => {
  it('has defaults for everything but the token', () => {
    expect(readInitFrame('{}')).toEqual({
      type: 'init',
      init: {
        token: undefined,
        language: { type: 'auto' },
        sampleRateHz: 16_000,
        diarize: false,
        numSpeakers: undefined,
        codeswitch: false,
        boostPhrases: [],
        boostWeight: 10,
      },
    });
  });

  it('never throws, and never repeats a token in a refusal', () => {
    fc.assert(fc.property(fc.json(), (text) => void readInitFrame(text)));
    const refused = readInitFrame('{"token":"secret-token","sample_rate":"secret-token"}');
    expect(JSON.stringify(refused)).not.toContain('secret-token');
  });

  it.each([7999, 48_001, 8000.5, '8000', Number.NaN])('refuses the rate %j', (rate) => {
    expect(readInitFrame(JSON.stringify({ sample_rate: rate === rate ? rate : 'NaN' })).type).toBe('refused');
  });
});

describe('the delta of a partial', () => {
  it.each([
    ['', 'one', 'one'],
    ['one', 'one two', 'two'],
    ['one', 'one', ''],
    ['one two', 'on', 'on'],
    ['won', 'one two', 'one two'],
  ])('from %j to %j is %j', (before, text, delta) => expect(deltaOf(before, text)).toBe(delta));
});
