import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }));

it('lets the dialler alone ask a carrier to dial, with a permit of the gate', () => {
  const asking = files.filter(({ text }) => /dialling\??\s*\.dial\(/u.test(text)).map(({ file }) => file);
  // The campaign demo wraps its simulated carrier, to order twice on purpose.
  // Agents of warm transfers are the operator's own people: the bot's file lists them, and no gate applies.
  const others = asking.filter((file) => !file.startsWith('cli/campaign-demo/') && file !== 'call/transfer/agent-leg.ts');
  expect(others).toEqual(['campaigns/dialler.ts']);
  const dialler = files.find(({ file }) => file === 'campaigns/dialler.ts')?.text ?? '';
  expect(dialler.match(/\.dial\(/gu)).toHaveLength(1);
  expect(dialler).toMatch(/async #order\(\s*\{ attempt \}: DialPermit,/u);
});

it('makes permits in one place, out of what the gate allowed', () => {
  const making = files.filter(({ text }) => /new DialPermit\(/u.test(text)).map(({ file }) => file);
  expect(making).toEqual(['campaigns/ask-gate.ts']);
});

it('holds places for outbound calls in the dialler alone', () => {
  const holding = files.filter(({ text }) => /outbound\.reserve\(/u.test(text)).map(({ file }) => file);
  expect(holding).toEqual(['campaigns/dialler.ts']);
});
