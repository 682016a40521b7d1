import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { callsBefore, paceKey, shareByWeight, shareRates, shareRoom } from '../../../src/outbound/pacing.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

describe('shareByWeight', () => {
  test.each([
    {
      note: 'equal weights share equally',
      total: 10,
      wanting: [
        [1, 99],
        [1, 99],
      ],
      shares: [5, 5],
    },
    {
      note: 'twice the weight gets twice as much',
      total: 9,
      wanting: [
        [2, 99],
        [1, 99],
      ],
      shares: [6, 3],
    },
    {
      note: 'what one leaves the others get',
      total: 10,
      wanting: [
        [1, 2],
        [1, 99],
        [1, 99],
      ],
      shares: [2, 4, 4],
    },
    {
      note: 'nobody gets more than wanted',
      total: 100,
      wanting: [
        [5, 1],
        [1, 3],
      ],
      shares: [1, 3],
    },
    { note: 'there is nothing to share', total: 0, wanting: [[1, 5]], shares: [0] },
  ])('$note', ({ total, wanting, shares }) => {
    expect(
      shareByWeight(
        total,
        wanting.map(([weight = 0, most = 0]) => ({ weight, most })),
      ),
    ).toEqual(shares);
  });

  it('hands out all that is there or all that is wanted, within each maximum', () => {
    const wanting = fc.array(fc.record({ weight: fc.integer({ min: 1, max: 50 }), most: fc.integer({ min: 0, max: 50 }) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), wanting, (total, all) => {
        const shares = shareByWeight(total, all);
        expect(sum(shares)).toBeCloseTo(Math.min(total, sum(all.map(({ most }) => most))), 6);
        for (const [index, { most }] of all.entries()) expect(shares[index]).toBeLessThanOrEqual(most + 1e-9);
      }),
    );
  });
});

it("shares an account's rate among its own campaigns alone", () => {
  const of = (id: string, carrier: string, weight: number, callsPerSecond: number) => ({ id, carrier, weight, callsPerSecond });
  const campaigns = [of('a', 'twilio', 3, 50), of('b', 'twilio', 1, 50), of('c', 'vonage', 1, 50)];
  const rates = shareRates(campaigns, (carrier) => (carrier === 'twilio' ? 20 : 2));
  expect([...rates]).toEqual([
    ['a', 15],
    ['b', 5],
    ['c', 2],
  ]);
});

describe('shareRoom', () => {
  test.each([
    {
      note: 'room goes by weight',
      room: 9,
      campaigns: [
        [2, 0, 99],
        [1, 0, 99],
      ],
      added: [6, 3],
    },
    {
      note: 'calls under way count',
      room: 4,
      campaigns: [
        [1, 10, 99],
        [1, 6, 99],
      ],
      added: [0, 4],
    },
    {
      note: 'unwanted room is left',
      room: 9,
      campaigns: [
        [1, 0, 2],
        [1, 0, 3],
      ],
      added: [2, 3],
    },
    { note: 'there is no room', room: 0, campaigns: [[1, 0, 2]], added: [0] },
    { note: 'room below nothing is none', room: -3, campaigns: [[1, 0, 2]], added: [0] },
  ])('$note', ({ room, campaigns, added }) => {
    const given = campaigns.map(([weight = 1, underWay = 0, wanted = 0]) => ({ weight, underWay, wanted }));
    expect(shareRoom(room, given)).toEqual(added);
  });
});

test.each([
  { note: 'the slowest key counts', campaign: 10, account: 4, lines: undefined, expected: 4 },
  { note: 'caller ids add up', campaign: 10, account: 9, lines: [1, 2], expected: 3 },
])('$note', ({ campaign, account, lines, expected }) => {
  const keys = [paceKey('campaign', campaign), paceKey('account', account)];
  const limits = { keys, lines: lines?.map((rate, index) => paceKey(`line ${index}`, rate)) };
  expect(callsBefore(2000, 1000, limits, new Map())).toBe(expected);
});
