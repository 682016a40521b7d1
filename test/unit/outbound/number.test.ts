import { describe, expect, it, test } from 'vitest';
import { readNumber } from '../../../src/outbound/number.ts';
import { numberZones } from './gate/dial-facts.ts';

describe('readNumber', () => {
  test.each([
    ['98765 43210', 'IN', '+919876543210', 'mobile'],
    ['098765-43210', 'IN', '+919876543210', 'mobile'],
    ['919876543210', 'IN', '+919876543210', 'mobile'],
    ['00919876543210', 'IN', '+919876543210', 'mobile'],
    ["'+919876543210", undefined, '+919876543210', 'mobile'],
    ['(212) 736-5000', 'US', '+12127365000', 'fixed-line-or-mobile'],
    ['+44 20 7946 0000', 'IN', '+442079460000', 'fixed-line'],
    ['+49 (0) 151 12345678', undefined, '+4915112345678', 'mobile'],
    ['1 800 225 5288', 'US', '+18002255288', 'toll-free'],
  ])('it reads %s with region %s', (text, region, e164, lineType) => {
    expect(readNumber(text, region)).toMatchObject({ e164, lineType });
  });

  test.each([
    ['', 'IN', 'empty'],
    ['911', 'US', 'numbering plan of US'],
    ['12345', 'IN', 'numbering plan of IN'],
    ['9.19876E+11', 'IN', 'spreadsheet'],
    ['9876543210', undefined, 'default region'],
    ['call 98765 43210', 'IN', 'not a telephone number'],
    ['98765 43210 x12', 'IN', 'extension'],
    ['98765 43210 / 98765 43211', 'IN', 'not a telephone number'],
    ['n/a', 'IN', 'not a telephone number'],
  ])('it says why %j is no number with region %s', (text, region, reason) => {
    expect(readNumber(text, region)).toEqual({ reason: expect.stringContaining(reason) as string });
  });
});

describe('NumberZones', () => {
  const zonesOf = (text: string): readonly string[] => {
    const number = readNumber(text);
    return 'e164' in number ? numberZones.of(number) : [];
  };

  test.each([
    ['+919876543210', ['Asia/Calcutta']],
    ['+12127365000', ['America/New_York']],
    ['+12085551212', ['America/Boise', 'America/Los_Angeles']],
    ['+5511987654321', ['America/Sao_Paulo']],
    ['+4915112345678', ['Europe/Berlin']],
    // Libphonenumber's own list says Paris, which is an hour wrong in summer.
    ['+213551234567', ['Africa/Algiers']],
    ['+74012123456', ['Europe/Kaliningrad']],
    // A satellite phone may be anywhere.
    ['+870773111632', []],
  ])('knows the zones of %s', (number, zones) => {
    expect(zonesOf(number)).toEqual(zones);
  });

  it('gives all zones of the country for a number without an area', () => {
    expect(zonesOf('+18002255288').length).toBeGreaterThan(30);
    expect(zonesOf('+61412345678')).toEqual(expect.arrayContaining(['Australia/Perth', 'Australia/Sydney']));
    expect(zonesOf('+79161234567')).toEqual(expect.arrayContaining(['Europe/Kaliningrad', 'Europe/Moscow', 'Asia/Anadyr']));
  });

  it('names zones that Intl knows', () => {
    const names = new Set(['1', '7', '44', '61', '55', '52', '62', '34', '351'].flatMap((code) => zonesOf(`+${code}8002255288`)));
    for (const name of names) expect(() => new Intl.DateTimeFormat('en', { timeZone: name })).not.toThrow();
  });
});
