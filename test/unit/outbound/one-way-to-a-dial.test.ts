import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Attachment, CallControl, DialOrder } from '../../../src/carriers/port.ts';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }));

it('lets the dialler alone ask a carrier to dial, with a permit of the gate', () => {
  const asking = files.filter(({ text }) => /dialling\??\s*\.dial\(/u.test(text)).map(({ file }) => file);
  // The campaign demo wraps its simulated carrier, to order twice on purpose.
  // Agents of warm transfers are the operator's own people: the bot's file lists them, and the check of targets alone applies.
  const others = asking.filter((file) => !file.startsWith('cli/campaign-demo/') && file !== 'call/transfer/agent-leg.ts');
  expect(others).toEqual(['outbound/dialler.ts']);
  const dialler = files.find(({ file }) => file === 'outbound/dialler.ts')?.text ?? '';
  expect(dialler.match(/\.dial\(/gu)).toHaveLength(1);
  expect(dialler).toMatch(/async #order\(\s*\{ attempt, target: to \}: DialPermit,/u);
});

it('makes targets that a carrier may call in the one check alone, which the compiler wants everywhere else', () => {
  const making = files
    .filter(({ text }) => /\bas (?:unknown as )?AllowedTarget\b|<AllowedTarget>/u.test(text))
    .map(({ file }) => file);
  expect(making).toEqual(['config/allowed-target.ts']);
  const port = files.find(({ file }) => file === 'carriers/port.ts')?.text ?? '';
  // Every way of the port to another number: `find` looks for a call, and calls nobody.
  expect(port.match(/\bto: \w+/gu)).toEqual([
    'to: string',
    'to: AllowedTarget',
    'to: string',
    'to: AllowedTarget',
    'to: string',
    'to: AllowedTarget',
  ]);
});

it('does not compile where a carrier is told to call an unchecked number', () => {
  const untold = (control: CallControl, order: DialOrder, attachment: Attachment): void => {
    const { signal } = new AbortController();
    // @ts-expect-error -- a text is no allowed target
    void control.transfer('CA1', '+15550100', signal);
    // @ts-expect-error -- the same
    void control.dialling?.dial({ ...order, to: '+15550100' }, signal);
    // @ts-expect-error -- the same
    attachment.sendTransfer?.('sip:900@evil.example');
  };
  expect(untold).toBeTypeOf('function');
});

it('makes permits in one place, out of what the gate allowed', () => {
  const making = files.filter(({ text }) => /new DialPermit\(/u.test(text)).map(({ file }) => file);
  expect(making).toEqual(['outbound/ask-gate.ts']);
});

it('holds places for outbound calls in the dialler alone', () => {
  const holding = files.filter(({ text }) => /outbound\.reserve\(/u.test(text)).map(({ file }) => file);
  expect(holding).toEqual(['outbound/dialler.ts']);
});
