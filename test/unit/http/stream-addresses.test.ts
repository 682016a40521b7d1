import { describe, expect, it } from 'vitest';
import { StreamAddresses } from '../../../src/http/stream-addresses.ts';
import { MemoryHub } from '../../support/memory-hub.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('calls whose webhook and socket come to different machines', () => {
  const clock = new ManualClock();
  const hub = new MemoryHub(clock);
  const machine = (): StreamAddresses =>
    new StreamAddresses({
      key: new Uint8Array(32),
      baseUrl: () => 'https://calls.example.com',
      carriers: new Map(),
      media: { expect: () => undefined, abandon: () => undefined },
      spent: hub.join().spent,
      clock,
    });

  it('are known as dialled at all machines, once the carrier has named them', async () => {
    const [a, b] = [machine(), machine()];
    await a.forDial({ carrier: 'twilio', callId: 'call_1', attachmentId: 'att_1' }, 30_000);
    expect(await b.isDialled('twilio', 'CA1')).toBe(false);
    expect(a.placed('twilio', 'call_1', 'CA1')).toBe(true);
    expect(a.placed('twilio', 'call_1', 'CA2')).toBe(false);
    for (const each of [a, b]) {
      expect(await each.isDialled('twilio', 'CA1')).toBe(true);
      expect(await each.isDialled('twilio', 'CA2')).toBe(false);
      expect(await each.isDialled('plivo', 'CA1')).toBe(false);
    }
  });

  it('are known at all machines to have had a signed socket', async () => {
    const [a, b] = [machine(), machine()];
    expect(await b.wasSigned('call_2')).toBe(false);
    await a.signed('call_2');
    expect(await b.wasSigned('call_2')).toBe(true);
    expect(await b.wasSigned('call_3')).toBe(false);
  });
});

describe('a voice webhook that comes again', () => {
  /** Machines of one gateway. */
  function machines(...names: readonly string[]) {
    const clock = new ManualClock();
    const hub = new MemoryHub(clock);
    const options = {
      key: new Uint8Array(32),
      baseUrl: () => 'https://calls.example.com',
      carriers: new Map(),
      media: { expect: () => undefined, abandon: () => undefined },
      clock,
    };
    return { clock, streams: names.map(() => new StreamAddresses({ ...options, spent: hub.join().spent })) };
  }
  const webhook = ['signature', 'CallSid=CA1'];

  it('may be the carrier asking once more within a minute, at whichever machine, and is a replayed one after that', async () => {
    const { clock, streams } = machines('a', 'b');
    const [a, b] = streams as [StreamAddresses, StreamAddresses];
    expect(await a.asked('twilio', 'CA1', webhook)).toBe('first');
    expect(await a.asked('twilio', 'CA1', ['another signature', 'CallSid=CA1'])).toBe('first');
    expect(await a.asked('twilio@acme', 'CA1', webhook)).toBe('first');
    expect(await b.asked('twilio', 'CA1', webhook)).toBe('again');
    clock.advance(60_001);
    expect(await a.asked('twilio', 'CA1', webhook)).toBe('replayed');
    expect(await b.asked('twilio', 'CA1', webhook)).toBe('replayed');
  });

  it('is a replayed one as soon as its call had media', async () => {
    const { streams } = machines('a', 'b');
    const [a, b] = streams as [StreamAddresses, StreamAddresses];
    expect(await a.asked('twilio', 'CA1', webhook)).toBe('first');
    const grant = { carrier: 'twilio', carrierCallId: 'CA1', callId: 'call_1', attachmentId: 'att_1' };
    const { streamUrl } = await a.forAnswer(grant, 60_000);
    expect(await b.claim(streamUrl.slice(streamUrl.lastIndexOf('/') + 1), 'twilio')).toEqual({ grant });
    expect(await a.asked('twilio', 'CA1', webhook)).toBe('replayed');
    expect(await a.asked('twilio', 'CA2', ['one of another call'])).toBe('first');
  });
});

it('grants streams of calls although it has noted more calls within a day than it remembers', async () => {
  const clock = new ManualClock();
  const streams = new StreamAddresses({
    baseUrl: () => 'https://calls.example.com',
    carriers: new Map(),
    media: { expect: () => undefined, abandon: () => undefined },
    clock,
  });
  for (let call = 0; call <= 100_000; call += 1) await streams.signed(`call_${call}`);
  const { streamUrl } = await streams.forAnswer({ carrier: 'twilio', callId: 'call_1', attachmentId: 'att_1' }, 60_000);
  expect(await streams.claim(streamUrl.slice(streamUrl.lastIndexOf('/') + 1), 'twilio')).toMatchObject({ grant: {} });
  expect([await streams.wasSigned('call_0'), await streams.wasSigned('call_100000')]).toEqual([false, true]);
});
