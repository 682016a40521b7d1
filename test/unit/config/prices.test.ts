import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { loadPrices } from '../../../src/config/prices.ts';
import { problemText } from '../../../src/config/problem.ts';
import { temporaryFolder } from '../../support/databases.ts';

async function load(text: string, embedsPlatform = false) {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'prices.yaml');
  writeFileSync(path, text);
  const { prices, problems } = loadPrices(path, embedsPlatform);
  return {
    prices,
    problems: problems.map((problem) => problemText({ ...problem, where: problem.where.replace(path, 'prices.yaml') })),
  };
}

const ENTRY = `  - vendor: acme
    unit: recogniser-seconds
    price: 0.36
    per: 3600
    date: "2026-11-01"
    source: contract 17`;

it('reads prices with their day and source, and adds our own parts at 0', async () => {
  const { prices, problems } = await load(`currency: EUR\nprices:\n${ENTRY}\n`, true);
  expect(problems).toEqual([]);
  expect(prices.currency).toBe('EUR');
  expect(prices.prices[0]).toMatchObject({ vendor: 'acme', price: 0.36, per: 3600, date: '2026-11-01', source: 'contract 17' });
  expect(prices.prices.slice(1).map(({ vendor, unit, price }) => [vendor, unit, price])).toEqual([
    ['browser', 'inbound-carrier-minutes', 0],
    ['browser', 'outbound-carrier-minutes', 0],
    ['platform', 'recogniser-seconds', 0],
    ['platform', 'synthesized-characters', 0],
  ]);
});

it('has no price of the speech platform where that is not the embedded one', () => {
  expect(loadPrices(undefined, false).prices.prices.map(({ vendor }) => vendor)).toEqual(['browser', 'browser']);
});

it('finds the shipped example sound, and without any price', () => {
  const { prices, problems } = loadPrices('config/prices.yaml', false);
  expect(problems).toEqual([]);
  expect(prices.prices.every(({ source }) => source === 'part of Offhook')).toBe(true);
});

test.each([
  {
    note: 'a unit with a slip',
    text: `currency: USD\nprices:\n${ENTRY.replace('recogniser-seconds', 'recognizer-seconds')}`,
    says: /^prices\.0\.unit \(prices\.yaml:4\).*did you mean recogniser-seconds/u,
  },
  {
    note: 'a price below 0',
    text: `currency: USD\nprices:\n${ENTRY.replace('0.36', '-1')}`,
    says: /^prices\.0\.price \(prices\.yaml:5\) is -1: a number from 0, or unknown/u,
  },
  {
    note: 'another currency',
    text: `currency: USD\nprices:\n${ENTRY}\n    currency: EUR`,
    says: /^prices\.0\.currency \(prices\.yaml:9\).*all prices are in the file's currency, USD/u,
  },
  {
    note: 'a price without a day',
    text: `currency: USD\nprices:\n${ENTRY.replace('    date: "2026-11-01"\n', '')}`,
    says: /^prices\.0\.date \(prices\.yaml:3\)/u,
  },
  {
    note: 'an unknown field',
    text: `currency: USD\nprices:\n${ENTRY}\n    round: 60`,
    says: /^prices\.0\.round \(prices\.yaml:9\): is no field/u,
  },
  {
    note: 'a repeated price',
    text: `currency: USD\nprices:\n${ENTRY}\n${ENTRY}`,
    says: /^prices\.1 \(prices\.yaml:9\): repeats prices\.0/u,
  },
  { note: 'no YAML', text: 'currency: [', says: /^.*prices\.yaml.*not readable as YAML/u },
])('names the line of $note', async ({ text, says }) => {
  const { problems, prices } = await load(text);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(says);
  expect(prices.prices.every(({ price }) => price === 0)).toBe(true);
});

it('says that a file is missing', () => {
  expect(loadPrices('/absent/prices.yaml', false).problems[0]).toMatchObject({
    key: 'spend.prices',
    where: '/absent/prices.yaml',
  });
});
