import { describe, expect, it } from 'vitest';
import { bandwidth } from '../../../src/carriers/bandwidth/carrier.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ACCOUNT, SimulatedBandwidthApi } from '../../../src/sim/bandwidth/account.ts';
import { SimulatedBandwidthCall } from '../../../src/sim/bandwidth/carrier.ts';
import { authToken, startGateway } from './gateway.ts';
import { eventually } from '../../support/eventually.ts';
import { allowedTarget } from '../../support/open-dialling.ts';

const { signal } = new AbortController();
const voice = '/carriers/bandwidth/voice';

/** A gateway, an account, and calls that came in. */
async function bench() {
  const gateway = await startGateway({ others: [bandwidth] });
  const api = await SimulatedBandwidthApi.start({ clock: gateway.clock });
  const { clientSecret, ...ids } = ACCOUNT;
  const settings = { ...ids, apiUrl: api.url, tokenUrl: api.tokenUrl };
  const secrets = { clientSecret: [new Secret(clientSecret)], webhookPassword: [new Secret(authToken)] };
  const control = bandwidth.control({ settings, secrets }, { clock: gateway.clock, gatewayUrl: () => gateway.url });
  if (control === undefined) throw new TypeError('no account');
  const about = { url: gateway.url, user: 'offhook', clock: gateway.clock };
  return {
    gateway,
    api,
    control,
    caller: (password = authToken) => new SimulatedBandwidthCall({ ...about, password }),
    async call(): Promise<SimulatedBandwidthCall> {
      const call = new SimulatedBandwidthCall({ ...about, password: authToken });
      await call.connect();
      api.register(call);
      return call;
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

describe('the webhooks of Bandwidth', () => {
  it('are asked for credentials however many come without, and refused with wrong ones', async () => {
    await using at = await bench();
    for (let count = 0; count < 50; count += 1) {
      const bare = await fetch(at.gateway.url + voice, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="offhook"']);
    }
    expect((await at.caller('wrong').post(voice, { eventType: 'initiate' })).status).toBe(403);
    expect(at.gateway.intake.answered).toEqual([]);
    expect((await at.caller().post(voice, { eventType: 'initiate' })).status).toBe(200);
    expect((await at.caller().post(voice, { eventType: 'disconnect', cause: 'hangup' })).status).toBe(204);
    expect(at.gateway.intake.answered).toHaveLength(1);
  });
});

describe('a call over Bandwidth', () => {
  it('ends with its stream, and has the keys of the caller reported', async () => {
    await using at = await bench();
    const call = await at.call();
    call.line.press('5');
    await eventually('the key', () => at.gateway.intake.keys.length > 0);
    expect(at.gateway.intake.keys).toEqual([`${call.carrierCallId} 5`]);
    at.gateway.intake.attachments[0]?.attachment.close('done');
    await call.ended;
    expect(at.gateway.intake.statuses.at(-1)).toBe(`${call.carrierCallId} disconnect true`);
    expect(call.line.complaints).toEqual([]);
  });

  it('is transferred, and its stream ends', async () => {
    await using at = await bench();
    const call = await at.call();
    await at.control.transfer(call.carrierCallId, allowedTarget('+15550100'), signal);
    await call.ended;
    expect(call.dialled).toBe('+15550100');
    await call.line.ended;
  });

  it('is bridged with another, by one token for all that is asked', async () => {
    await using at = await bench();
    const [caller, agent] = [await at.call(), await at.call()];
    await at.control.join?.(caller.carrierCallId, agent.carrierCallId, signal);
    await caller.ended;
    expect(caller.bridged).toBe(agent.carrierCallId);
    await Promise.all([caller.line.ended, agent.line.ended]);
    expect(at.api.tokensGiven).toBe(1);
    at.gateway.clock.advance(3_600_000);
    await expect(at.control.hangUp('nobody', signal)).resolves.toBeUndefined();
    expect(at.api.tokensGiven).toBe(2);
  });

  it('has keys pressed while its stream goes on', async () => {
    await using at = await bench();
    const call = await at.call();
    await at.control.sendDigits(call.carrierCallId, '1w2#', signal);
    await eventually('the keys', () => call.digits.length > 0);
    expect(call.digits).toEqual(['1w2#']);
    expect(call.line.open).toBe(true);
    await expect(at.control.sendDigits(call.carrierCallId, '1'.repeat(51), signal)).rejects.toThrow(RangeError);
    await at.control.hangUp(call.carrierCallId, signal);
    await call.ended;
  });
});
