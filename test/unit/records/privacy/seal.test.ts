import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/config/secrets.ts';
import { MasterKeys } from '../../../../src/records/privacy/master-keys.ts';
import { seal, unseal } from '../../../../src/records/privacy/seal.ts';

const key = Buffer.alloc(32, 7);
const secretOf = (fill: string): Secret => new Secret(Buffer.alloc(32, fill).toString('base64'));

describe('sealed bytes', () => {
  it('open as they were, for the same key and purpose', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, about) => {
        expect(unseal(key, about, seal(key, about, bytes))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('do not open for another key or purpose, nor when any bit of them was changed or cut', () => {
    const sealed = seal(key, 'turn/1', Buffer.from('नमस्ते'));
    expect(() => unseal(Buffer.alloc(32, 8), 'turn/1', sealed)).toThrow(expect.objectContaining({ code: 'OFFHOOK_STORE_KEY' }));
    expect(() => unseal(key, 'turn/2', sealed)).toThrow(expect.objectContaining({ code: 'OFFHOOK_STORE_KEY' }));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(() => unseal(key, 'turn/1', changed)).toThrow();
      expect(() => unseal(key, 'turn/1', sealed.subarray(0, at))).toThrow();
    }
  });

  it('differ each time they are made', () => {
    expect(seal(key, 'a', Buffer.from('x'))).not.toEqual(seal(key, 'a', Buffer.from('x')));
  });
});

describe('master keys', () => {
  it('open during a rotation what either of them sealed, and afterwards only what the new one did', () => {
    const [before, during, after] = [['old'], ['new', 'old'], ['new']].map((fills) => new MasterKeys(fills.map(secretOf)));
    const [old, fresh] = [before!.make('k'), during!.make('k')];
    expect(during!.unwrap('k', old.wrapped)).toEqual(old.key);
    expect(after!.unwrap('k', fresh.wrapped)).toEqual(fresh.key);
    expect(() => after!.unwrap('k', old.wrapped)).toThrow(/does not have/);
    expect(() => during!.unwrap('other', old.wrapped)).toThrow();
  });

  it('are 32 bytes, and at least one', () => {
    expect(() => new MasterKeys([])).toThrow(/no master key/);
    expect(() => new MasterKeys([new Secret('short')])).toThrow(/32 bytes/);
  });
});
