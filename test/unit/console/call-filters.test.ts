import { describe, expect, it, test } from 'vitest';
import { apiQuery, readFilters, splitAtWords, wantedWords, writeFilters } from '../../../src/console/pages/calls/filters.ts';

describe('the filters of the calls page', () => {
  it('reads back what it writes into the address, and leaves out what is no filter', () => {
    const filters = { text: 'money & मंगलवार', bot: 'clinic', variable: 'day:Tuesday', minReplyMs: '1500', minCost: '0.5' };
    expect(readFilters(`?${writeFilters(filters)}`)).toEqual(filters);
    expect(readFilters('?bot=clinic&nonsense=1&text=%20')).toEqual({ bot: 'clinic' });
    expect(writeFilters({ bot: 'b', text: 'a', carrier: ' ' })).toBe('text=a&bot=b');
  });

  it('asks for whole days of the reader, the last one included, and for milliseconds', () => {
    const asked = apiQuery({ from: '2026-03-01', to: '2026-03-31', minDurationS: '1.5', bot: 'clinic' });
    expect(asked).toMatchObject({ bot: 'clinic', minDurationMs: '1500' });
    expect(asked['from']).toBe(new Date(2026, 2, 1).toISOString());
    expect(asked['to']).toBe(new Date(2026, 3, 1).toISOString());
    expect(apiQuery({ from: 'soon', maxDurationS: 'long' })).toMatchObject({ from: undefined, maxDurationMs: undefined });
  });

  test.each([
    ['Money back', 'I want my MONEY, back: moneyback', ['I want my ', 'MONEY', ', ', 'back', ': moneyback']],
    ['मंगलवार', 'day: मंगलवार को', ['day: ', 'मंगलवार', ' को']],
    ['', 'nothing', ['nothing']],
    ['ｆｕｌｌ', 'full width', ['', 'full', ' width']],
  ])('marks the words of %j in %j', (search, text, parts) => {
    expect(splitAtWords(text, wantedWords(search))).toEqual(parts);
  });
});
