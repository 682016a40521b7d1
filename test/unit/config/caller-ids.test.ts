import { describe, expect, it } from 'vitest';
import { callerIdOf, readCallerIds } from '../../../src/config/caller-ids.ts';
import { loadConfig } from '../../../src/config/load.ts';

describe('readCallerIds', () => {
  it('reads numbers, series and the carriers that have them, and names what is neither', () => {
    const { callerIds, wrong } = readCallerIds('+14155550100, +91140*,+442071838750@vonage, 98765, +1*, +1415555010x,');
    expect(callerIds).toEqual([
      { number: '+14155550100', isSeries: false, carrier: undefined },
      { number: '+91140', isSeries: true, carrier: undefined },
      { number: '+442071838750', isSeries: false, carrier: 'vonage' },
    ]);
    expect(wrong).toEqual(['98765', '+1*', '+1415555010x']);
  });

  it('finds the entry of a number at a carrier, one that names the number before its series', () => {
    const { callerIds } = readCallerIds('+1415*, +14155550100@twilio, +442071838750@vonage');
    expect(callerIdOf(callerIds, '+14155550100')).toMatchObject({ isSeries: false, carrier: 'twilio' });
    expect(callerIdOf(callerIds, '+14155550100', 'vonage')).toMatchObject({ isSeries: true });
    expect(callerIdOf(callerIds, '+442071838750', 'twilio')).toBeUndefined();
    expect(callerIdOf(callerIds, '+14085550100')).toBeUndefined();
  });
});

it('reports a caller id of the wrong form and carriers that there are not', () => {
  const env = { OFFHOOK_DIALLING__CALLER_IDS: '+14155550100@twillio, 4155550101', OFFHOOK_DIALLING__CARRIER: 'bell' };
  const { problems } = loadConfig({ env, files: [] });
  expect(problems.map(({ key, value, message }) => [key, value, message.split(';')[0]])).toEqual([
    ['dialling.callerIds', '"4155550101"', expect.stringContaining('a series +91140*')],
    ['dialling.callerIds', '"twillio"', 'no such carrier'],
    ['dialling.carrier', '"bell"', expect.stringContaining('allowed is one of twilio, ')],
  ]);
});
