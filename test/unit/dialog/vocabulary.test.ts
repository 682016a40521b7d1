import { expect, it } from 'vitest';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { vocabularyOf } from '../../../src/dialog/bot-dialog.ts';

const bot = (name: string, more: object): Bot => ({
  ...botSettings.parse({ name, voice: 'Nisha', ...more }),
  folder: '/nowhere',
});

const flow = {
  start: 'ask',
  languages: ['en', 'hi'],
  slots: {
    topping: {
      kind: 'choice',
      options: { ham: { phrases: { en: ['ham', 'with ham'], hi: ['हैम'] } } },
      called: { en: ['the topping'], hi: ['टॉपिंग'] },
    },
    price: { kind: 'money', currency: 'USD' },
    sure: { kind: 'yes-no' },
  },
  commands: { chef: { phrases: { en: ['speak to the chef'], hi: ['शेफ़'] }, say: { en: 'No.', hi: 'नहीं।' } }, help: false },
  states: {
    ask: { ask: { slot: 'topping', prompt: { en: 'What?', hi: 'क्या?' }, hints: ['extra cheese'] }, next: 'pay' },
    pay: { ask: { slot: 'price', prompt: { en: 'How much?', hi: 'कितना?' } }, next: 'end' },
    end: { hangup: 'done' },
  },
};

it('holds what callers of all bots can answer, by language, with the words of the bots first', async () => {
  const vocabulary = await vocabularyOf([
    bot('pizza', { dialog: { kind: 'flow', flow }, interruption: { stopPhrases: ['enough'] } }),
    bot('model', { dialog: { kind: 'http', url: 'http://127.0.0.1:1' }, language: 'hi-IN', hints: ['खाता बंद करना है'] }),
  ]);
  const { en = [], hi = [] } = vocabulary;
  expect(en.slice(0, 6)).toEqual(['enough', 'the topping', 'ham', 'with ham', 'speak to the chef', 'extra cheese']);
  expect(hi.slice(0, 5)).toEqual(['टॉपिंग', 'हैम', 'शेफ़', 'extra cheese', 'खाता बंद करना है']);
  expect(en).toEqual(expect.arrayContaining(['dollars', 'hold on']));
  expect(en).not.toContain('help me');
  expect(Object.keys(vocabulary)).toEqual(['en', 'hi']);
  expect(new Set(en).size).toBe(en.length);
});
