import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { campaignSettings, RETRIED, retryAfter } from '../../src/outbound/campaign.ts';
import { botSettings } from '../../src/config/bots.ts';
import { parseFlow } from '../../src/dialog/flow/load.ts';
import { flowDocument } from '../../src/dialog/flow/schema.ts';

const textOf = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
const examplesOf = (name: string): unknown[] =>
  [...textOf(name).matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml]): unknown => parse(yaml!));
const has =
  (key: string) =>
  (value: unknown): boolean =>
    typeof value === 'object' && value !== null && key in value;

describe('the examples of the documents', () => {
  const bots = ['bots', 'dialog-hooks'].flatMap((name) => examplesOf(name).filter(has('dialog')));

  it('are bots that a gateway takes, named or not', () => {
    expect(bots.length).toBeGreaterThan(4);
    for (const bot of bots) {
      const { dialog } = botSettings.parse({ name: 'unnamed', voice: 'v', ...(bot as object) });
      if (dialog.kind === 'flow') parseFlow(dialog.flow, { language: 'en' });
    }
  });

  it('are flows without a mistake', () => {
    const flows = examplesOf('flow').filter(has('start'));
    expect(flows).toHaveLength(1);
    for (const flow of flows) parseFlow(flow, { language: 'en' });
  });
});

test.each(Object.keys(botSettings.shape))('the document of bots has the key %s', (key) => {
  expect(textOf('bots')).toMatch(new RegExp(`^\\| \`${key}[.\`]`, 'm'));
});

test.each(Object.keys(flowDocument.shape))('the document of flows has the key %s', (key) => {
  expect(textOf('flow')).toMatch(new RegExp(`^\\| \`${key}\``, 'm'));
});

test.each(Object.keys(campaignSettings.shape))('the document of campaigns has the setting %s', (key) => {
  expect(textOf('campaigns')).toMatch(new RegExp(`\\| \`${key}[.\`]`, 'm'));
});

test.each(RETRIED)('the document of campaigns says whether somebody is called again after %s', (outcome) => {
  const settings = campaignSettings.parse({ name: 'x', bot: 'x', from: '+12125550100', profile: 'none' });
  const most = retryAfter(settings, outcome)?.most ?? 0;
  expect(textOf('campaigns')).toMatch(new RegExp(`^\\| [^|]*\`${outcome}\`[^|]*\\|[^|]*\\| ${most} `, 'm'));
});
