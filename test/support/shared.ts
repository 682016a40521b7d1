import { afterAll, beforeAll } from 'vitest';

/**
 * What the tests of a block share: opened before them and closed after them.
 * @param open gives undefined where this machine has no such thing, and the tests of the block are skipped
 * @returns stands for what was opened; it throws when it is used earlier
 */
export function shared<Value extends AsyncDisposable>(open: () => Promise<Value | undefined>): Value {
  let opened: Value | undefined;
  beforeAll(async () => void (opened = await open()));
  afterAll(() => opened?.[Symbol.asyncDispose]());
  return new Proxy({} as Value, {
    get(_, name) {
      if (opened === undefined) throw new Error(`${String(name)} is used before the tests of the block have begun`);
      const value: unknown = Reflect.get(opened, name, opened);
      return typeof value === 'function' ? value.bind(opened) : value;
    },
  });
}
