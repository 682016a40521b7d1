import { describe, expect, it } from 'vitest';
import { AgentLegs } from '../../../src/call/transfer/agent-legs.ts';
import { LegsAtFront } from '../../../src/hosts/front-channel.ts';
import type { Report } from '../../../src/hosts/protocol.ts';

const leg = { legId: 'leg_1', attachmentId: 'att_1', callId: 'call_1', carrier: 'twilio' };
const addresses = { streamUrl: 'wss://gateway.example.org/stream', statusUrl: 'https://gateway.example.org/status' };
const listener = { attached: () => undefined, reported: () => undefined, abandoned: () => undefined };

function bench() {
  const reports: Report[] = [];
  const door = new LegsAtFront({ report: (report) => void reports.push(report) });
  const legs = new AgentLegs(door);
  const opened = legs.open(leg, 30_000, listener);
  legs.whileEnding(
    opened.then(
      () => undefined,
      () => undefined,
    ),
  );
  return { reports, door, legs, opened };
}

describe("the addresses of an agent's leg", () => {
  it('are those that the front gives', async () => {
    const { reports, door, opened } = bench();
    expect(reports).toEqual([{ type: 'leg', ...leg, ringMs: 30_000 }]);
    door.given({ legId: leg.legId, ...addresses });
    expect(await opened).toEqual(addresses);
  });

  it('fail when the leg is closed before the front has answered, and hold up no process that ends', async () => {
    const { reports, door, legs, opened } = bench();
    legs.close(leg);
    await expect(opened).rejects.toThrow('closed before');
    await legs.settled();
    door.given({ legId: leg.legId, ...addresses });
    expect(reports.at(-1)).toEqual({ type: 'leg-over', legId: leg.legId });
  });

  it('fail when the front cannot make them', async () => {
    const { door, legs, opened } = bench();
    door.refused(leg.legId, 'no such carrier');
    await expect(opened).rejects.toThrow('no such carrier');
    await legs.settled();
  });
});
