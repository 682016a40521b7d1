import { expect, test } from 'vitest';
import { type FigureSources, readFigure } from '../../../src/alerts/figures.ts';
import type { AlertRule } from '../../../src/config/alerts.ts';
import { NO_FIGURES } from '../../support/no-figures.ts';

const sources: FigureSources = {
  statistics: {
    figures: async (_tenants, { botName }) => ({
      ...NO_FIGURES,
      calls: botName === undefined ? 20 : 8,
      cutOffCalls: 3,
      notUnderstoodCalls: 4,
      givenUp: 6,
      transferred: 1,
      endings: { ...NO_FIGURES.endings, failed: 5 },
      replies: { replies: 100, p50Ms: 800, p90Ms: 2_000, p95Ms: 2_400, p99Ms: 4_000 },
    }),
    interruptions: async () => ({ replies: 100, brokenOff: 20 }),
    spentSince: async (_tenants, sinceMs) => [
      { botName: 'clinic', micros: 2_500_000 + sinceMs },
      { botName: 'sales', micros: 500_000 },
    ],
  },
  problems: async () => [
    { severity: 'warning', what: 'The disk has 1.5 GB left.' },
    { severity: 'error', what: 'The store does not answer.' },
  ],
  tenants: () => ['default'],
};
const rule = (figure: AlertRule['figure'], more: Partial<AlertRule> = {}): AlertRule => ({
  name: 'r',
  figure,
  windowMinutes: 15,
  severity: 'error',
  coolDownMinutes: 60,
  resolved: true,
  ...more,
});

test.each([
  { about: rule('reply-p95-ms'), value: 2_400 },
  { about: rule('reply-p50-ms'), value: 800 },
  { about: rule('cut-off-share'), value: 0.15 },
  { about: rule('interrupted-share'), value: 0.2 },
  { about: rule('failed-share'), value: 0.25 },
  { about: rule('not-understood-share'), value: 0.2 },
  { about: rule('given-up-share'), value: 0.3 },
  { about: rule('transferred-share'), value: 0.05 },
  { about: rule('calls'), value: 20 },
  { about: rule('reply-p95-ms', { minimumCalls: 21 }), value: undefined },
  { about: rule('failed-share', { bot: 'clinic' }), value: undefined },
  { about: rule('failed-share', { bot: 'clinic', minimumCalls: 8 }), value: 5 / 8 },
  { about: rule('spend-today'), value: 3 },
  { about: rule('spend-today', { bot: 'sales' }), value: 0.5 },
  { about: rule('problems'), value: 1 },
  { about: rule('problems', { severity: 'warning' }), value: 2 },
])('$about.figure of $about.bot is $value', async ({ about, value }) => {
  expect((await readFigure(about, sources, 5_000)).value).toBe(value);
});

test('problems are named', async () => {
  expect((await readFigure(rule('problems'), sources, 0)).details).toEqual(['The store does not answer.']);
});
