import { describe, expect, it, test } from 'vitest';
import { brokenRows } from '../../../src/console/pages/campaigns/problem-rows.tsx';
import { openStretches, planOf } from '../../../src/console/pages/campaigns/parts.tsx';

describe('planOf', () => {
  const hours = [{ days: ['mon'], from: '10:00', to: '19:00' }];
  const none = { windows: [{ purposes: null, hours: [{ from: '08:00', to: '21:00' }] }] };
  const campaign = { bot: 'reminder', from: ['+911600123456'], profile: 'none', callsPerSecond: 2, concurrency: 20 };

  it('says whom it calls, when, how fast and how often', () => {
    const settings = {
      ...campaign,
      narrowing: { windows: [{ hours }] },
      endsAt: '2026-03-31T18:00:00+05:30',
      attempts: { most: 2 },
    };
    expect(planOf(settings, none, 2_431)).toEqual([
      { line: 'whom', contacts: 2_431, bot: 'reminder', from: '+911600123456' },
      { line: 'hours', hours },
      { line: 'profile hours', profile: 'none', hours: [{ from: '08:00', to: '21:00' }] },
      { line: 'pace', callsPerSecond: 2, concurrency: 20, leastMinutes: 21 },
      { line: 'attempts', most: 2 },
      { line: 'ends', at: '2026-03-31T18:00:00+05:30' },
    ]);
  });

  it('takes the hours of the purpose, and says where there are none', () => {
    const profile = {
      windows: [
        { purposes: ['promotional'], hours: [{ from: '09:00', to: '21:00' }] },
        { purposes: ['service'], hours: [{ from: '08:00', to: '21:00' }] },
      ],
    };
    const lines = (purpose: string) => planOf({ ...campaign, purpose }, profile, 0).slice(0, 2);
    expect(lines('service')).toMatchObject([{ line: 'nobody' }, { line: 'profile hours', hours: [{ from: '08:00' }] }]);
    expect(lines('government')[1]).toEqual({ line: 'any hour', profile: 'none' });
  });
});

test.each([
  ['', []],
  ['000', []],
  ['0110', [{ from: 1, to: 3 }]],
  [
    '101',
    [
      { from: 0, to: 1 },
      { from: 2, to: 3 },
    ],
  ],
])('finds the open stretches of %j', (steps, stretches) => {
  expect(openStretches(steps)).toEqual(stretches);
});

describe('brokenRows', () => {
  it('keeps the rows as they were written, whatever goes over lines, with what is wrong', () => {
    const file = '\uFEFFphone;name\r\n12;"A\nB"\r\n+919876543210;Asha\r\n13;never "closed\r\n';
    const problems = [
      { line: 5, reason: 'a quote "opens"' },
      { line: 2, reason: 'no such number' },
    ];
    expect(brokenRows(file, problems)).toBe(
      'phone;name;problem\r\n12;"A\nB";"no such number"\r\n13;never "closed;"a quote ""opens"""\r\n',
    );
  });

  it('has no first line for a list of a number a line', () => {
    expect(brokenRows('12\n+919876543210\n', [{ line: 1, reason: 'no such number' }])).toBe('12,"no such number"\r\n');
  });

  it('gives objects of JSON Lines a member more, and leaves what is no object', () => {
    const problems = [
      { line: 1, reason: 'no such number' },
      { line: 3, reason: 'no object' },
    ];
    expect(brokenRows('{"phone":"12"}\n{"phone":"+919876543210"}\nnot json\n', problems)).toBe(
      '{"phone":"12","problem":"no such number"}\nnot json\n',
    );
  });
});
