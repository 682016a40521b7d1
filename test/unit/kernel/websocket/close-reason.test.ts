import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeReason } from '../../../../src/kernel/websocket/close-reason.ts';

describe('the close reason', () => {
  it('is a prefix of at most 123 bytes, cut between code points, and the whole text when it fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200, size: 'max' }), (text) => {
        const reason = closeReason(text);
        expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
        expect(text.startsWith(reason)).toBe(true);
        if (Buffer.byteLength(text) <= 123) expect(reason).toBe(text);
        else expect(Buffer.byteLength(reason)).toBeGreaterThan(119);
      }),
    );
  });

  it('keeps 41 of 42 Devanagari letters', () => expect(closeReason('क'.repeat(42))).toBe('क'.repeat(41)));
});
