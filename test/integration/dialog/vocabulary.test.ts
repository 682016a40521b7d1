import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { parseFlow } from '../../../src/dialog/flow/load.ts';
import { findDay, findTime, tokenise } from '../../../src/language/index.ts';
import { talk, TODAY } from '../../unit/dialog/flow/talk.ts';
import { expandRule, readRules } from '../../unit/dialog/expand-grammar.ts';

const config = new URL('../../../config/', import.meta.url);
const { bots } = loadBots(fileURLToPath(new URL('bots', config)));

/** What a demo caller can say, and what of it answers another question than the first. */
const languages = [
  {
    language: 'en',
    bot: 'clinic',
    book: 'book an appointment',
    day: 'Tuesday',
    time: 'half past ten',
    elsewhere: ['text message', 'reminder'],
  },
  { language: 'hi', bot: 'clinic-hi', book: 'अपॉइंटमेंट चाहिए', day: 'मंगलवार', time: 'साढ़े दस बजे', elsewhere: ['समय', 'संदेश'] },
] as const;

describe.each(languages)(
  'all that the built-in recogniser can hear in $language',
  ({ language, bot, book, day, time, elsewhere }) => {
    const rules = readRules(new URL(`platform/vocabulary.${language}.yaml`, config));
    const settings = bots.find(({ name }) => name === bot)?.dialog;
    const flow = parseFlow(settings?.kind === 'flow' ? settings.flow : undefined, { language });

    it('is understood: requests and commands at the first question', () => {
      const lines = [...expandRule(rules, 'request'), ...expandRule(rules, 'command')];
      expect(lines.length).toBeGreaterThan(20);
      const lost = lines.filter((line) => talk(flow, [line], language).state.misses > 0);
      expect(lost.filter((line) => !elsewhere.some((known) => known === line))).toEqual([]);
    });

    it('is understood: answers where the booking is read back', () => {
      const lines = expandRule(rules, 'answer').filter((line) => !['nothing else', 'कुछ नहीं'].includes(line));
      expect(lines.filter((line) => talk(flow, [book, day, time, line], language).state.misses > 0)).toEqual([]);
    });

    it('is understood: days and times', () => {
      const days = expandRule(rules, 'day');
      const times = expandRule(rules, 'time');
      expect(days.filter((line) => findDay(tokenise(line), TODAY) === undefined)).toEqual([]);
      expect(times.filter((line) => findTime(tokenise(line), { bare: true }) === undefined)).toEqual([]);
    });
  },
);
