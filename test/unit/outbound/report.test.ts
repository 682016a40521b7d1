import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { campaignSettings } from '../../../src/outbound/campaign.ts';
import { campaignReport, reportTable } from '../../../src/outbound/report.ts';
import { type AttemptTally, DISPOSITIONS } from '../../../src/records/dialling.ts';

const settings = campaignSettings.parse({ name: 'March', bot: 'reminder', from: '+15550100001', profile: 'none' });
const campaign = { id: 'cmp_1', name: 'March', state: 'running', settings } as const;
const counts = { contacts: 3, states: { pending: 1, leased: 0, waiting: 0, done: 2 }, dispositions: { busy: 1, completed: 1 } };

const tally = (more: Partial<AttemptTally>): AttemptTally => ({
  quarterMs: Date.parse('2026-03-02T04:30:00Z'),
  botName: 'reminder',
  from: '+15550100001',
  disposition: 'completed',
  refusal: undefined,
  attempts: 1,
  answered: 1,
  talkSeconds: 30,
  ...more,
});

describe('campaignReport', () => {
  it('tells of contacts, calls and refusals on the clock of the zone', () => {
    const tallies = [
      tally({ attempts: 2, answered: 2, talkSeconds: 61 }),
      tally({ disposition: 'busy', answered: 0, talkSeconds: 0 }),
      tally({
        quarterMs: Date.parse('2026-03-02T18:30:00Z'),
        disposition: 'refused',
        refusal: 'suppressed',
        attempts: 4,
        answered: 0,
      }),
      tally({ disposition: undefined, answered: 1, talkSeconds: 0 }),
    ];
    const report = campaignReport(campaign, counts, tallies, 'Asia/Kolkata');
    expect(report).toMatchObject({
      campaign: { id: 'cmp_1', name: 'March', bot: 'reminder', profile: 'none', state: 'running' },
      zone: 'Asia/Kolkata',
      contacts: { total: 3, states: { pending: 1, leased: 0, waiting: 0, done: 2 }, outcomes: { completed: 1, busy: 1 } },
      attempts: { attempts: 4, refused: 4, answered: 3, talkSeconds: 61, outcomes: { completed: 2, busy: 1, 'under-way': 1 } },
      refusals: { suppressed: 4 },
      days: [
        { day: '2026-03-02', attempts: 4, refused: 0 },
        { day: '2026-03-03', attempts: 0, refused: 4 },
      ],
      hours: [
        { hour: 0, refused: 4 },
        { hour: 10, attempts: 4 },
      ],
    });
    expect(reportTable(report)).toEqual([
      ['day', 'hour', 'bot', 'callerId', 'outcome', 'calls', 'answered', 'talkSeconds'],
      ['2026-03-02', '10', 'reminder', '+15550100001', 'completed', '2', '2', '61'],
      ['2026-03-02', '10', 'reminder', '+15550100001', 'busy', '1', '0', '0'],
      ['2026-03-02', '10', 'reminder', '+15550100001', 'under-way', '1', '1', '0'],
      ['2026-03-03', '0', 'reminder', '+15550100001', 'refused', '4', '0', '30'],
    ]);
  });

  it("is on the campaign's own clock, or in UTC", () => {
    expect(campaignReport(campaign, counts, []).zone).toBe('UTC');
    const local = { ...campaign, settings: { ...settings, defaultZone: 'America/Denver' } };
    expect(campaignReport(local, counts, []).zone).toBe('America/Denver');
  });

  it('loses and doubles no call, whatever it is grouped by', () => {
    const quarter = fc.integer({ min: 0, max: 4 * 24 * 400 }).map((index) => Date.UTC(2026, 0, 1) + index * 900_000);
    const some = fc.nat({ max: 50 });
    const tallies = fc.array(
      fc.record({
        quarterMs: quarter,
        botName: fc.constantFrom('reminder', 'survey'),
        from: fc.constantFrom('+15550100001', '+15550100002'),
        disposition: fc.constantFrom(...DISPOSITIONS, undefined),
        refusal: fc.constantFrom('suppressed', 'no-consent'),
        attempts: some,
        answered: some,
        talkSeconds: some,
      }),
      { maxLength: 60 },
    );
    const zone = fc.constantFrom('UTC', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
    fc.assert(
      fc.property(tallies, zone, (given, where) => {
        const report = campaignReport(campaign, counts, given, where);
        const sum = (list: readonly AttemptTally[], of: 'attempts' | 'answered' | 'talkSeconds'): number =>
          list.reduce((total, each) => total + each[of], 0);
        const allowed = given.filter(({ disposition }) => disposition !== 'refused');
        const refused = given.filter(({ disposition }) => disposition === 'refused');
        const expected = {
          attempts: sum(allowed, 'attempts'),
          refused: sum(refused, 'attempts'),
          answered: sum(allowed, 'answered'),
          talkSeconds: sum(allowed, 'talkSeconds'),
        };
        expect(report.attempts).toMatchObject(expected);
        for (const groups of [report.days, report.hours, report.bots, report.callerIds]) {
          const total = { attempts: 0, refused: 0, answered: 0, talkSeconds: 0 };
          for (const group of groups) for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += group[key];
          expect(total).toEqual(expected);
        }
        const calls = reportTable(report).slice(1);
        expect(calls.reduce((total, row) => total + Number(row[5]), 0)).toBe(expected.attempts + expected.refused);
        expect(Object.values(report.refusals).reduce((total, count) => total + count, 0)).toBe(expected.refused);
      }),
    );
  });
});
