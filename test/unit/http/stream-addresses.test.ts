import { describe, expect, it } from 'vitest';
import { StreamAddresses } from '../../../src/http/stream-addresses.ts';
import { MemoryHub } from '../../../src/shared-state/memory.ts';
import { ManualClock } from '../../../src/sim/manual-clock.ts';

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
