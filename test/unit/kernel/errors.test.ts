import { describe, expect, it, test } from 'vitest';
import { errorTextWithCause, rootCause } from '../../../src/kernel/errors.ts';

const because = (message: string, cause: unknown): Error => new Error(message, { cause });
const refused = new Error('connect ECONNREFUSED 127.0.0.1:5432');

describe('errorTextWithCause', () => {
  test.each([
    { note: 'nothing but the message where there is no cause', thrown: refused, text: refused.message },
    { note: 'the innermost cause', thrown: because('away', because('query failed', refused)), text: `away: ${refused.message}` },
    { note: 'the first of several', thrown: because('away', new AggregateError([refused])), text: `away: ${refused.message}` },
    { note: 'a cause that is no error', thrown: because('away', 'full'), text: 'away: full' },
    {
      note: 'a cause once that the message has',
      thrown: because(`not ${refused.message}`, refused),
      text: `not ${refused.message}`,
    },
    { note: 'what is no error', thrown: 'full', text: 'full' },
  ])('gives $note', ({ thrown, text }) => expect(errorTextWithCause(thrown)).toBe(text));

  it('shows no credentials of an address', () => {
    const cause = new Error('no such host: postgres://me:p@ss/word@db.example.org/calls');
    expect(errorTextWithCause(because('the store is away', cause))).toBe(
      'the store is away: no such host: postgres://…@db.example.org/calls',
    );
  });
});

it('ends at circular causes', () => {
  const first = new Error('first');
  first.cause = because('second', first);
  expect(rootCause(first)).toBeInstanceOf(Error);
});
