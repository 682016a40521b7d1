import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { maskSecret } from '../../../src/kernel/mask-secret.ts';

const SECRET = 'eyJhbGciOi.J9+a/b="&<\\c-Z_9';
const mask = maskSecret(SECRET);
const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');

test.each([
  { note: 'as it was sent', echo: SECRET },
  { note: 'percent-encoded', echo: encodeURIComponent(SECRET) },
  { note: 'percent-encoded twice', echo: encodeURIComponent(encodeURIComponent(SECRET)) },
  { note: 'as JSON', echo: JSON.stringify(SECRET).slice(1, -1) },
  { note: 'as JSON within JSON', echo: JSON.stringify(JSON.stringify(SECRET)).slice(3, -3) },
  { note: 'with every character escaped', echo: Array.from(SECRET, (character) => `\\u${hex(character)}`).join('') },
  { note: 'as HTML', echo: Array.from(SECRET, (character) => `&#${character.charCodeAt(0)};`).join('') },
])('hides a secret $note', ({ echo }) => {
  expect(mask(`Bearer ${echo}, and ${echo}!`)).toBe('Bearer [token], and [token]!');
});

describe('masking', () => {
  it('hides a secret that was cut off', () => {
    expect(mask(`no token ${SECRET.slice(0, 20)}`)).toBe('no token [token]');
    expect(mask(`no token ${SECRET.slice(0, 20)}...`)).toBe('no token [token]...');
  });

  it('leaves every other text unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[\x21\x23-\x5b\x5d-\x7e]{20,60}$/), (text, secret) => {
        fc.pre(!text.includes(secret.slice(0, 4)));
        expect(maskSecret(secret)(text)).toBe(text);
        expect(maskSecret(secret, '')(`${text} ${JSON.stringify(secret)}`)).toBe(`${text} ""`);
      }),
    );
    expect(maskSecret('')('any')).toBe('any');
  });
});
