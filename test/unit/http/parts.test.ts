import { describe, expect, it, test } from 'vitest';
import { ExpectedMedia } from '../../../src/http/intake.ts';
import { PendingSockets } from '../../../src/http/media-routes.ts';
import {
  configuredAddress,
  isLocal,
  publicAddresses,
  redactUrl,
  socketAddress,
  visitorOf,
} from '../../../src/http/public-addresses.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('redactUrl', () => {
  test.each([
    ['/carriers/twilio/stream/aaa.bbb.ccc', '/carriers/twilio/stream/[token]'],
    ['/carriers/twilio/stream/aaa/bbb?x=1', '/carriers/twilio/stream/[token]'],
    ['/Carriers/Exotel/Stream/aaa', '/Carriers/Exotel/Stream/[token]'],
    ['/x/carriers/twilio/stream/aaa', '/x/carriers/twilio/stream/[token]'],
    ['/carriers/twilio/voice/clinic?token=1#a', '/carriers/twilio/voice/clinic'],
    ['/healthz', '/healthz'],
  ])('shows %s as %s', (url, shown) => expect(redactUrl(url)).toBe(shown));
});

describe('publicAddresses', () => {
  it('prefers what was configured, without a trailing slash', () => {
    expect(publicAddresses('https://voice.test/', null)).toEqual(['https://voice.test']);
    expect(publicAddresses('https://voice.test/base/', null)).toEqual(['https://voice.test/base']);
    expect([configuredAddress('https://voice.test/'), configuredAddress(undefined)]).toEqual(['https://voice.test', undefined]);
  });

  it('falls back to the loopback forms of the port', () => {
    const addresses = publicAddresses(undefined, { address: '127.0.0.1', family: 'IPv4', port: 81 });
    expect(addresses).toEqual(['http://127.0.0.1:81', 'http://localhost:81', 'http://[::1]:81']);
    expect(addresses.map(socketAddress)[0]).toBe('ws://127.0.0.1:81');
    expect(socketAddress('https://voice.test')).toBe('wss://voice.test');
  });
});

describe('isLocal', () => {
  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('takes %s for this machine', (address) =>
    expect(isLocal(address, {})).toBe(true),
  );
  it.each(['10.0.0.1', '::ffff:10.0.0.1', '127.evil.test', '', undefined])('takes %s for another', (address) =>
    expect(isLocal(address, {})).toBe(false),
  );
  it('takes what a proxy passed on for another', () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip'])
      expect(isLocal('127.0.0.1', { [name]: '1.2.3.4' })).toBe(false);
  });
});

describe('PendingSockets', () => {
  it('counts each address by itself, and gives each place back once', () => {
    const pending = new PendingSockets(2);
    const leave = pending.enter('a');
    pending.enter('a');
    expect([pending.isFull('a'), pending.isFull('b')]).toEqual([true, false]);
    leave();
    leave();
    pending.enter('a');
    expect(pending.isFull('a')).toBe(true);
  });
});

describe('ExpectedMedia', () => {
  function setUp() {
    const clock = new ManualClock();
    const abandoned: string[] = [];
    const expected = new ExpectedMedia(clock, { abandon: (...facts) => void abandoned.push(facts.join(' ')) });
    return { clock, abandoned, expected };
  }

  it('gives up what does not come, once', () => {
    const { clock, abandoned, expected } = setUp();
    expected.expect('call', 'att', 1000);
    clock.advance(999);
    expect(abandoned).toEqual([]);
    clock.advance(1);
    expected.abandon('att', 'late');
    expect(abandoned).toEqual(['call att no media within 1000 ms of the answer']);
    expect(expected.arrived('att')).toBe(false);
  });

  it('does not give up what came', () => {
    const { clock, abandoned, expected } = setUp();
    expected.expect('call', 'att', 1000);
    expect(expected.arrived('att')).toBe(true);
    expect(expected.arrived('att')).toBe(false);
    clock.advance(5000);
    expected.abandonAll('stop');
    expect(abandoned).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives up everything when the server stops', () => {
    const { clock, abandoned, expected } = setUp();
    expected.expect('call', 'a', 1000);
    expected.expect('call', 'b', 1000);
    expected.abandonAll('stop');
    expect(abandoned).toEqual(['call a stop', 'call b stop']);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('visitorOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['nonsense', 'nonsense'],
  ])('of %s is %s', (address, expected) => expect(visitorOf(address)).toBe(expected));
});
