import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { vendors } from '../../../src/speech/vendors/registry.ts';

const PAGE = 'docs/speech/README.md';
const AREA = /<!-- vendors -->[^]*<!-- \/vendors -->/u;

/** The table of vendors, as the registry describes them. */
function table(): string {
  const rows = vendors.map(({ name, title, services, needs, prices }) => {
    const cost = (service: string): string => prices.find((price) => price.service === service)?.price ?? 'see its page';
    const prized = services.map((service) => `${service}: ${cost(service)}`).join('; ');
    return `| \`${name}\` | [${title}](${name}.md) | ${services.join(', ')} | ${needs} | ${prized} |`;
  });
  return ['| name | vendor | services | needs | published price |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

const cells = (text: string): string => text.replaceAll(/[ -]+/gu, ' ');

it('lists every vendor of the registry on the page of speech vendors', () => {
  const wanted = `<!-- vendors -->\n\n${table()}\n\n<!-- /vendors -->`;
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.OFFHOOK_WRITE_DOCS === '1')
    writeFileSync(
      PAGE,
      page.replace(AREA, () => wanted),
    );
  else expect(cells(AREA.exec(page)?.[0] ?? '')).toBe(cells(wanted));
});

it.each(vendors.map(({ name }) => name))('has a page for %s', (name) => {
  expect(existsSync(`docs/speech/${name}.md`)).toBe(true);
});
