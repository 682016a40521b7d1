import { describe, expect, it } from 'vitest';
import { acefone, smartflo } from '../../../src/carriers/smartflo/carrier.ts';
import { SimulatedSmartfloStream } from '../../../src/sim/smartflo/smartflo.ts';
import { authToken, openStream, startGateway } from './gateway.ts';

const numbers = { from: '+919876543210', to: '+918047491899' };
const key = encodeURIComponent(authToken);

describe('a media socket of Smartflo', () => {
  it('is let in by the key in its address, and its start is the call', async () => {
    await using gateway = await startGateway({ others: [smartflo, acefone] });
    const base = `${gateway.url.replace('http', 'ws')}/carriers/acefone/media/clinic`;
    expect(await openStream(base, {})).toBe(401);
    expect(await openStream(`${base}?key=other`, {})).toBe(401);
    expect(gateway.intake.answered).toEqual([]);
    const line = await SimulatedSmartfloStream.open({ url: `${base}?key=${key}`, callSid: '1.2', ...numbers }, gateway.clock);
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(gateway.intake.answered).toMatchObject([{ carrier: 'acefone', carrierCallId: '1.2', ...numbers, botName: 'clinic' }]);
    gateway.intake.attachments[0]?.attachment.close('done');
    await line.ended;
    expect(line.hasEnd).toBe(true);
    expect(line.complaints).toEqual([]);
    expect(gateway.lines.join('\n')).not.toContain(authToken);
  });

  it('is let in once by the address that a dynamic endpoint was given, whatever its start calls the call', async () => {
    await using gateway = await startGateway({ others: [smartflo] });
    const query = new URLSearchParams({
      key: authToken,
      callId: '1758782566.8131',
      fromNumber: numbers.from,
      toNumber: numbers.to,
    });
    const answer = await fetch(`${gateway.url}/carriers/smartflo/voice/clinic?${query.toString()}`);
    const { sucess, wss_url: url } = (await answer.json()) as { sucess: boolean; wss_url: string };
    expect(sucess).toBe(true);
    expect(gateway.intake.answered).toMatchObject([{ carrierCallId: '1758782566.8131', ...numbers, botName: 'clinic' }]);
    const line = await SimulatedSmartfloStream.open({ url, callSid: 'another', ...numbers }, gateway.clock);
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(gateway.intake.attachments[0]?.callId).toBe('call_1758782566.8131');
    expect(await openStream(url, {})).toBe(403);
    line.stop();
  });
});
