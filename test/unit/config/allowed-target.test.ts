import { describe, expect, it } from 'vitest';
import { checkDial, checkTransfer } from '../../../src/config/allowed-target.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { readCallerIds } from '../../../src/config/caller-ids.ts';
import { destinationsOf, readDestinations } from '../../../src/config/destinations.ts';

/** The destinations of a gateway with this setting and these caller ids. */
function destinations(written = 'home', callerIds = '+14155550100', profileCountries: readonly string[] = []) {
  return destinationsOf(written, () => readCallerIds(callerIds).callerIds, profileCountries)('default');
}

describe('where calls may go', () => {
  const refusalOf = (to: string, ...given: Parameters<typeof destinations>) => {
    const checked = checkDial(to, destinations(...given));
    return 'refusal' in checked ? checked.detail : undefined;
  };

  it.each([
    { what: 'a number of the country of the caller id', to: '+12127365000' },
    { what: 'a number of the other country of the same plan', to: '+14165550123' },
    { what: 'a number of the country of a series', to: '+919876543210', callerIds: '+91140*' },
    { what: 'a number of the profile', to: '+4915112345678', profile: ['DE'] },
    { what: 'a number of a country that is named', to: '+819012345678', written: 'home, JP' },
    { what: 'a number of a named prefix', to: '+442079460000', written: '+4420*' },
    { what: 'any country', to: '+819012345678', written: 'any' },
    { what: 'satellite phones by their code', to: '+8816123456789', written: '+881' },
    { what: 'premium-rate numbers by their prefix', to: '+19005551234', written: 'home, +1900' },
  ])('lets calls go to $what', ({ to, written, callerIds, profile }) => {
    expect(refusalOf(to, written, callerIds, profile)).toBeUndefined();
  });

  it.each([
    { what: 'another country', to: '+819012345678', says: 'a number of JP: dialling.destinations allows CA, US' },
    { what: 'an island that shares the code', to: '+18765551234', says: 'a number of JM' },
    { what: 'a satellite phone', to: '+8816123456789', written: 'any', says: 'numbers of no country' },
    { what: 'another satellite phone', to: '+870776000000', written: 'any', says: 'numbers of no country' },
    { what: 'an international network', to: '+883510012345', written: 'any, +88', says: 'numbers of no country' },
    { what: 'shared cost of no country', to: '+80812345678', written: 'any', says: 'numbers of no country' },
    { what: 'premium rate at home', to: '+19005551234', says: 'premium-rate numbers' },
    { what: 'premium rate of a country that is named by its code', to: '+448712345678', written: '+44', says: 'premium-rate' },
    { what: 'a personal number', to: '+447012345678', written: 'GB', says: 'personal numbers' },
    { what: 'home, where another list is set', to: '+12127365000', written: 'GB', says: 'allows GB' },
    { what: 'anything without a caller id', to: '+12127365000', callerIds: '', says: 'allows none' },
  ])('lets no call go to $what', ({ to, written, callerIds, says }) => {
    expect(refusalOf(to, written, callerIds)).toContain(says);
    expect(refusalOf(to, written, callerIds)).not.toContain(to.slice(-5));
  });

  it('names what is no destination', () => {
    expect(readDestinations('home, GB, +8816*, gb, 44, +0').wrong).toEqual(['gb', '44', '+0']);
  });
});

describe('whom a caller may be connected to', () => {
  const bot = (more: object = {}) =>
    botSettings.parse({ name: 'desk', voice: 'Nisha', dialog: { kind: 'module', file: 'desk.js' }, ...more });
  const check = (to: string, file: object = {}, { isWarm = false, line = '+14155550100', written = 'home' } = {}) => {
    const checked = checkTransfer(to, { bot: bot(file), isWarm, line, destinations: destinations(written, '') });
    return 'refusal' in checked ? checked.refusal : 'allowed';
  };

  it.each([
    { what: 'a number of the country that the caller has called', to: '+12127365000' },
    { what: 'a number of an example', to: '+15550100' },
    {
      what: 'a number abroad that stands whole in the file',
      to: '+442079460000',
      file: { transfers: { allow: ['+442079460000'] } },
    },
    { what: 'whom a silent caller is connected to', to: '+442079460000', file: { noInputTransfer: '+442079460000' } },
    { what: 'the person of whenDown', to: 'sip:desk@pbx.example', file: { whenDown: [{ transfer: 'sip:desk@pbx.example' }] } },
    {
      what: 'an extension of a host in the list',
      to: 'sip:4711@pbx.example',
      file: { transfers: { allow: ['sip:*@pbx.example'] } },
    },
  ])('lets a caller be connected to $what', ({ to, file }) => {
    expect(check(to, file)).toBe('allowed');
  });

  const anyNumber = { transfers: { allow: ['+19*', '+14*', '+44*', '+88*', 'sip:*@pbx.example'] } };
  it.each([
    { what: 'a premium-rate number', to: '+19005551234', want: 'destination-not-allowed' },
    {
      what: 'a premium-rate number that the list has the beginning of',
      to: '+19005551234',
      file: anyNumber,
      want: 'destination-not-allowed',
    },
    {
      what: 'a premium-rate number that stands in the file',
      to: '+19005551234',
      file: { noInputTransfer: '+19005551234' },
      want: 'destination-not-allowed',
    },
    { what: 'a satellite phone', to: '+8816123456789', file: anyNumber, want: 'destination-not-allowed' },
    { what: 'a number abroad', to: '+442079460000', file: anyNumber, want: 'destination-not-allowed' },
    { what: 'a number of no plan', to: '+14155550', want: 'destination-not-allowed' },
    {
      what: 'somebody who is not in the list',
      to: '+12127365000',
      file: { transfers: { allow: ['+1415*'] } },
      want: 'not-allowed',
    },
    { what: 'a host that the file does not have', to: 'sip:900@evil.example', want: 'not-allowed' },
    { what: 'a host behind a second at-sign', to: 'sip:900@evil.example;x=@pbx.example', file: anyNumber, want: 'not-allowed' },
    {
      what: 'a premium-rate number by way of a host',
      to: 'sip:+19005551234@pbx.example',
      file: anyNumber,
      want: 'destination-not-allowed',
    },
    {
      what: 'the same with other digits before it',
      to: 'sip:0019005551234@pbx.example',
      file: anyNumber,
      want: 'destination-not-allowed',
    },
    {
      what: 'the same in disguise',
      to: 'sip:%2B1900-555-1234;phone-context=x@pbx.example',
      file: anyNumber,
      want: 'destination-not-allowed',
    },
  ])('connects no caller to $what', ({ to, file, want }) => {
    expect(check(to, file)).toBe(want);
  });

  it('rings an agent in the list alone', () => {
    const file = { transfers: { allow: ['+12127365000'] }, noInputTransfer: '+14155550199' };
    expect(check('+12127365000', file, { isWarm: true })).toBe('allowed');
    expect(check('+14155550199', file, { isWarm: true })).toBe('not-allowed');
    expect(check('+12127365000', {}, { isWarm: true })).toBe('not-allowed');
    expect(check('sip:a@pbx.example', anyNumber, { isWarm: true })).toBe('not-allowed');
  });

  it('keeps to a list of destinations without home, whatever the file names', () => {
    expect(check('+442079460000', { noInputTransfer: '+442079460000' }, { written: 'IN' })).toBe('destination-not-allowed');
  });
});
