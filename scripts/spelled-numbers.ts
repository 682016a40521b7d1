// Makes config/platform/mathematics/numbers/{gu,hi,ne,ta}.yaml from the spell-out rules of Unicode CLDR (Unicode-3.0), which has them for
// no other Indic language.
// npm pack cldr-rbnf@48.2.0, unpack it, then:
// npx tsx scripts/spelled-numbers.ts package
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { z } from 'zod';

const LANGUAGES = ['gu', 'hi', 'ne', 'ta'];
const SCALES = [1_000, 100_000, 10_000_000];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError('usage: spelled-numbers.ts FOLDER, where cldr-rbnf is unpacked');
const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));

/** A rule of one set: what is said from a number on. */
interface Rule {
  readonly from: number;
  readonly text: string;
}

/** The rules of cardinal numbers, in rising order. */
function cardinalRules(language: string): readonly Rule[] {
  const text = readFileSync(join(folder!, 'rbnf', `${language}-SpelloutRules.txt`), 'utf8');
  const sets = new Map<string, Rule[]>();
  let rules: Rule[] = [];
  for (const line of text.split('\n')) {
    const name = /^(?<name>%+[\w-]+):$/u.exec(line)?.groups?.['name'];
    if (name !== undefined) sets.set(name, (rules = []));
    const rule = /^(?<from>\d+): (?<text>.*);$/u.exec(line)?.groups;
    if (rule !== undefined) rules.push({ from: Number(rule['from']), text: rule['text'] ?? '' });
  }
  const cardinal = sets.get('%spellout-cardinal') ?? [];
  const other = /^=(?<name>%[\w-]+)=$/u.exec(cardinal[0]?.text ?? '')?.groups?.['name'];
  return other === undefined ? cardinal : (sets.get(other) ?? []);
}

function spell(value: number, rules: readonly Rule[]): string {
  const rule = rules.findLast(({ from }) => from <= value);
  if (rule === undefined) throw new RangeError(`no rule for ${value}`);
  const divisor = rule.from === 0 ? 1 : 10 ** Math.floor(Math.log10(rule.from) + 1e-9);
  const rest = value % divisor;
  return rule.text
    .replace(/\[(?<more>.*)\]/u, rest === 0 || rule.text.startsWith('=') ? '' : '$<more>')
    .replace('<<', () => spell(Math.floor(value / divisor), rules))
    .replace('>>', () => spell(rest, rules));
}

for (const language of LANGUAGES) {
  const rules = cardinalRules(language);
  const scales = SCALES.map((value) => ({
    value,
    say: /<< (?<word>[^[]+)/u.exec(rules.find(({ from }) => from === value)!.text)![1]!,
  }));
  const document = {
    language,
    source: `Unicode CLDR ${version}`,
    reviewed: true,
    below100: Array.from({ length: 100 }, (_, value) => spell(value, rules)),
    hundreds: Array.from({ length: 9 }, (_, index) => spell(100 * (index + 1), rules)),
    scales,
  };
  const path = fileURLToPath(new URL(`../config/platform/mathematics/numbers/${language}.yaml`, import.meta.url));
  writeFileSync(path, stringify(document, { lineWidth: 128, collectionStyle: 'any' }));
}
