import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { carrierFacts } from '../../../src/carriers/open-carriers.ts';
import { carriers } from '../../../src/carriers/registry.ts';

const FOLDER = 'docs/carriers';
const PAGE = `${FOLDER}/README.md`;
const AREA = /<!-- carriers -->[^]*<!-- \/carriers -->/u;

/** The page that takes a stranger to a call through a carrier: its own, or one whose heading names it beside another of its protocol. */
function pageOf({ name, title }: Carrier): string | undefined {
  const pages = readdirSync(FOLDER).filter((file) => file !== 'README.md');
  const heading = (file: string): string => readFileSync(`${FOLDER}/${file}`, 'utf8').split('\n', 1)[0] ?? '';
  return pages.find((file) => file === `${name}.md`) ?? pages.toSorted().find((file) => heading(file).includes(title));
}

/** The table of carriers, as the registry describes them. */
function table(): string {
  const rows = carriers.map((carrier) => {
    const { name, title } = carrier;
    const page = pageOf(carrier);
    return [`\`${name}\``, page === undefined ? title : `[${title}](${page})`, ...Object.values(carrierFacts(carrier))];
  });
  const [first] = carriers;
  const headings = ['name', 'carrier', ...Object.keys(first === undefined ? {} : carrierFacts(first))];
  return [headings, headings.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const cells = (text: string): string => text.replaceAll(/[ -]+/gu, ' ');

it('lists every carrier of the registry with what it can do on the page of carriers', () => {
  const wanted = `<!-- carriers -->\n\n${table()}\n\n<!-- /carriers -->`;
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.OFFHOOK_WRITE_DOCS === '1')
    writeFileSync(
      PAGE,
      page.replace(AREA, () => wanted),
    );
  else expect(cells(AREA.exec(page)?.[0] ?? '')).toBe(cells(wanted));
});

it.each(carriers)('has a page for $name', (carrier) => {
  expect(pageOf(carrier)).toBeDefined();
});
