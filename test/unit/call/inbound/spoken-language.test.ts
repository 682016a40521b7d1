import { describe, expect, it, test } from 'vitest';
import { SpokenLanguage } from '../../../../src/call/inbound/spoken-language.ts';

const final = (text: string, language: string) => ({ type: 'final', seg: 0, text, endOfUtterance: true, language }) as const;
const clinic = (): SpokenLanguage => new SpokenLanguage(['en', 'hi'], 'en');

describe('the language of a caller', () => {
  test.each([
    ['I would like an appointment', 'en'],
    ['मुझे डॉक्टर से मिलना है', 'hi'],
    ['मुझे appointment चाहिए', 'hi'],
    ['mujhe kal ka appointment chahiye', 'hi'],
    ['hello', undefined],
    ['हैलो', undefined],
    ['42', undefined],
    ['', undefined],
  ])('is found in %j: %s', (text, language) => expect(clinic().turn(text)).toBe(language));

  it('is what the recogniser detected, if it is one of the bot', () => {
    const [detected, foreign, unsure, told] = [clinic(), clinic(), clinic(), clinic()];
    for (const language of [detected, foreign, unsure]) language.toListenFor(true);
    told.toListenFor(false);
    detected.hear(final('doctor appointment', 'hi-IN'));
    foreign.hear(final('guten tag', 'de'));
    unsure.hear(final('hello', 'hi'));
    told.hear(final('doctor appointment', 'hi'));
    expect([detected.turn('doctor appointment'), foreign.turn('good day'), unsure.turn('hello')]).toEqual([
      'hi',
      'en',
      undefined,
    ]);
    expect(told.turn('doctor appointment')).toBe('en');
  });

  it('is decided by the first turn that tells it, and locked', () => {
    const language = clinic();
    expect([language.turn('hello'), language.turn('मुझे मदद चाहिए'), language.turn('tomorrow at ten')]).toEqual([
      undefined,
      'hi',
      undefined,
    ]);
  });

  test.each([
    ['Hindi please', 'hi'],
    ['can we talk in Hindi', 'hi'],
    ['हिंदी में बात कीजिए', 'hi'],
    ['हिन्दी', 'hi'],
    ['my son learns Hindi at school', undefined],
    ['is it English or Hindi you speak', undefined],
  ])('changes where %j asks for it: %s', (text, language) => {
    const call = clinic();
    call.turn('I have a question');
    expect(call.turn(text)).toBe(language);
  });

  it('can be asked for in the other language, and again', () => {
    const call = clinic();
    expect(call.turn('मुझे मदद चाहिए')).toBe('hi');
    expect(call.turn('अंग्रेज़ी में बात करें')).toBe('en');
    expect(call.turn('speak in English please')).toBeUndefined();
  });

  it('is listened for by a recogniser that tells languages, until it is known', () => {
    const call = clinic();
    expect([call.toListenFor(true), call.toListenFor(false)]).toEqual(['auto', 'en']);
    call.turn('मुझे मदद चाहिए');
    expect(call.toListenFor(true)).toBe('hi');
  });

  it('of one alphabet is told by the recogniser alone', () => {
    const call = new SpokenLanguage(['en', 'es'], 'en');
    call.toListenFor(true);
    expect(call.turn('buenos dias')).toBeUndefined();
    call.hear(final('buenos dias', 'es'));
    expect(call.turn('buenos dias')).toBe('es');
  });

  it('that the dialog chose is kept', () => {
    const call = clinic();
    call.changed('hi');
    expect(call.turn('tomorrow at ten')).toBeUndefined();
    expect(call.turn('English please')).toBe('en');
  });
});
