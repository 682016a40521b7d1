import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { speakable } from '../../../../src/call/outbound/bot-voice.ts';

test.each([
  ['**Tuesday** is *free*.', 'Tuesday is free.'],
  ['## Opening hours\n- Monday\n- Tuesday', 'Opening hours Monday Tuesday'],
  ['See [our page](https://example.org/a?b=c) 😀 for more.', 'See our page for more.'],
  ['Look at https://www.example.org/deep/link?x=1 please', 'Look at example.org please'],
  ['`code` and ~~no~~ __yes__', 'code and no yes'],
  ['5*3 and snake_case stay', '5*3 and snake_case stay'],
  ['The value $x_1 * y$ is said', 'The value $x_1 * y$ is said'],
  ['नमस्ते 🙏🏽, **मंगलवार** को आइए।', 'नमस्ते , मंगलवार को आइए।'],
  ['Press 1️⃣ now', 'Press 1 now'],
  ['Offhook™ © 2026', 'Offhook™ © 2026'],
  ['---', ''],
  ['👍', ''],
])('says %j as %j', (written, said) => {
  expect(speakable(written)).toBe(said);
});

it('leaves plain sentences alone and changes nothing twice', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\p{L}\p{M}0-9 ,.?!'’।-]*$/u), (text) => {
      const once = speakable(text);
      expect(speakable(once)).toBe(once);
    }),
  );
  expect(speakable("I'm here, aren't I? It's 10.30 - no, 11.")).toBe("I'm here, aren't I? It's 10.30 - no, 11.");
});
