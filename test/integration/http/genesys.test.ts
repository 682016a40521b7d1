import { setTimeout as realSleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { genesys } from '../../../src/carriers/genesys/carrier.ts';
import { type GenesysPlaceOptions, openGenesysSession } from '../../../src/sim/genesys/genesys.ts';
import { authToken, type Gateway, startGateway } from './gateway.ts';

const start = (): Promise<Gateway> => startGateway({ others: [genesys] });
const open = (gateway: Gateway, more: Partial<GenesysPlaceOptions> = {}) =>
  openGenesysSession({ url: gateway.url, clock: gateway.clock, clientSecret: authToken, stream: { light: true }, ...more });

async function until(gateway: Gateway, isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 3_000 && !isSo(); turn += 1) {
    gateway.clock.advance(20);
    await realSleep(1);
  }
  expect(isSo()).toBe(true);
}

describe('a session of Genesys', () => {
  it('is a call once it has opened, and is closed as the protocol wants it', async () => {
    await using gateway = await start();
    const call = await open(gateway, { bot: 'clinic', from: '+447700900000' });
    await until(gateway, () => gateway.intake.attachments.length === 1);
    expect(gateway.intake.answered).toMatchObject([
      { carrier: 'genesys', carrierCallId: call.carrierCallId, from: '+447700900000', botName: 'clinic' },
    ]);
    const [attached] = gateway.intake.attachments;
    attached?.attachment.sendAudio(new Int16Array(3_200));
    attached?.attachment.sendMark('0.a.3200.end');
    await until(gateway, () => attached?.events.some(({ type }) => type === 'mark') === true);
    attached?.attachment.close('said-goodbye');
    expect(await call.line.ended).toMatchObject({ code: 1000 });
    expect(call.line.outputVariables).toEqual({ offhookEndReason: 'said-goodbye' });
    expect(call.line.complaints).toEqual([]);
  });

  it('of a monitor is a listened call with both sides', async () => {
    await using gateway = await start();
    const call = await open(gateway, { monitor: true, stream: { lineNoise: 0 } });
    await until(gateway, () => gateway.intake.attachments.length === 1);
    expect(gateway.intake.answered).toMatchObject([{ mode: 'listen' }]);
    call.line.say(new Int16Array(1_600).fill(4_000), 8_000, 'other');
    const [attached] = gateway.intake.attachments;
    const peak = (track: string): number =>
      Math.max(
        0,
        ...(attached?.events ?? []).flatMap((event) => (event.type === 'audio' && event.track === track ? [...event.pcm] : [])),
      );
    await until(gateway, () => peak('other') > 3_500);
    expect(peak('caller')).toBeLessThan(100);
    await call.hangUp();
    await until(gateway, () => attached?.events.some(({ type }) => type === 'stopped') === true);
  });

  it('that only tries the connection is answered, and is no call', async () => {
    await using gateway = await start();
    const probe = await open(gateway, { carrierCallId: '00000000-0000-0000-0000-000000000000' });
    await probe.hangUp();
    expect(probe.line.complaints).toEqual([]);
    expect(gateway.intake.answered).toEqual([]);
  });

  it.each([
    [
      'offers no media that we take',
      { media: [{ type: 'audio', format: 'L16', channels: ['external'], rate: 16_000 }] },
      'accepted is PCMU at 8000 Hz with the external channel',
    ],
    ['is one of Transcript Connector', { supportedLanguages: true }, 'Transcript Connector is not supported'],
  ])('that %s is disconnected with a reason, as the log says it, before the socket is closed', async (_, opens, reason) => {
    await using gateway = await start();
    const refused = await open(gateway, { opens }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ said: [expect.stringMatching(/^error: /u)] });
    expect(refused).toMatchObject({ said: [expect.stringContaining(reason)] });
    expect(gateway.intake.answered).toEqual([]);
    expect(gateway.lines.join('\n')).toContain(reason);
  });

  it('whose call is not taken is disconnected with a reason', async () => {
    await using gateway = await start();
    gateway.intake.refusal = { kind: 'refuse', say: 'Busy.', language: 'en', cause: 'calls', reason: 'full' };
    const call = await open(gateway);
    expect(await call.line.ended).toMatchObject({ code: 1000 });
    expect(call.line.disconnected).toEqual({ reason: 'error', info: 'the call is refused: calls' });
    expect(call.line.complaints).toEqual([]);
  });

  it('is refused before anything is made for it where its signature is another', async () => {
    await using gateway = await start();
    await expect(open(gateway, { clientSecret: 'YW5vdGhlcg==' })).rejects.toThrow('does not open');
    expect(gateway.intake.answered).toEqual([]);
    expect(gateway.lines.join('\n')).toContain('unsigned');
  });
});
