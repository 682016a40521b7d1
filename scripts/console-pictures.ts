// OFFHOOK_TEST_PICTURES=FOLDER npx vitest run test/e2e/console && npx tsx scripts/console-pictures.ts FOLDER
// Makes the pictures of docs/images from those that the console's tests take of its pages.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumProgram } from '../test/support/console.ts';

const [folder = '.'] = process.argv.slice(2);
/** Picture of a test, by the name it has in the documents. */
const PICTURES = {
  'console-overview': 'overview-light',
  'console-call': 'call-light',
  'console-live': 'live-call-taken-over-light',
  'console-bot': 'bot-flow-light',
  'console-talk': 'talk-live-light',
} as const;
const QUALITY = 0.85;

const browser = await chromium.launch({ executablePath: chromiumProgram ?? '' });
const page = await browser.newPage();
for (const [name, taken] of Object.entries(PICTURES)) {
  const path = join(folder, `${taken}.png`);
  if (!existsSync(path))
    throw new Error(`${path} is missing: run the console's tests with OFFHOOK_TEST_PICTURES=${folder} first`);
  const webp = await page.evaluate(
    async ([png, quality]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      canvas.getContext('2d')?.drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', quality).split(',')[1] ?? '';
    },
    [readFileSync(path).toString('base64'), QUALITY] as const,
  );
  writeFileSync(new URL(`../docs/images/${name}.webp`, import.meta.url), Buffer.from(webp, 'base64'));
}
await browser.close();
