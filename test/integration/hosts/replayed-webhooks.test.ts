import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { carriers } from '../../../src/carriers/registry.ts';
import { callRecord } from '../../../src/records/record.ts';
import { RecordingProxy, type SeenRequest } from '../../support/recording-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { type CarrierBench, startCarrierBench } from './carrier-bench.ts';

const BOT_MODULE = `
export async function* respond(turn) {
  yield { type: 'say', text: 'Hello.' };
}
`;

let world: CarrierBench;
let proxy: RecordingProxy;
beforeAll(async () => {
  world = await startCarrierBench(BOT_MODULE);
  proxy = await RecordingProxy.start(world.bench.gateway.url);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** Those whose webhooks are signed or carry credentials. */
const withWebhooks = carriers.flatMap(({ name, offers }) => (offers.proof.webhook === 'none' ? [] : [{ name }]));
const refusals = [400, 401, 403, 409];
/** A record without what jobs change in it after the call. */
const writtenByTheCall = callRecord.omit({ recordingPath: true, recordingSidecarPath: true });

describe.each(withWebhooks)('webhooks of $name that are sent again as they were', ({ name }) => {
  it('begin no second call, give nobody a stream of a call that is over, and change no record', async () => {
    const { gateway } = world.bench;
    const from = proxy.seen.length;
    const call = await world.place(name, {}, { connectTo: proxy.url });
    const seen = (): SeenRequest[] => proxy.seen.slice(from).filter(({ isUpgrade, method }) => !isUpgrade && method === 'POST');
    onTestFinished(async () => call.hangUp());
    // Of a carrier whose socket is all that comes, the call begins with that.
    const session = await eventually('its media', () =>
      gateway.calls.calls.find(({ identity, attached }) => identity.inbound.carrier === name && attached),
    );
    const { id } = session;
    const live = (): string[] => gateway.calls.calls.flatMap((each) => (each.identity.inbound.carrier === name ? each.id : []));
    const whileLive = seen();
    const answering = whileLive.filter(({ path }) => path.includes('/voice'));
    const again = async (
      requests: readonly SeenRequest[],
      alter: (request: SeenRequest) => SeenRequest = (request) => request,
    ) => {
      const answers = [];
      for (const request of requests) answers.push(await proxy.send(alter(request)));
      return answers;
    };
    const elsewhere = (request: SeenRequest): SeenRequest => ({
      ...request,
      path: request.path.replace(/\/voice.*$/u, '/voice/other?bot=other'),
    });
    const rewritten = (request: SeenRequest): SeenRequest => ({
      ...request,
      body: Buffer.from(request.body.toString('utf8').replaceAll('447700900', '447700901')),
    });

    // While its media goes on.
    for (const alter of [undefined, elsewhere])
      for (const { status, body } of await again(answering, alter)) {
        expect([status, body.includes('/stream/')]).toEqual([expect.any(Number), false]);
        expect(status === 200 || refusals.includes(status)).toBe(true);
      }
    expect(live()).toEqual([id]);
    expect(session.attached).toBe(true);

    await call.hangUp();
    await session.ended;
    await eventually('the end', () => live().length === 0);
    const stored = async (): Promise<object | undefined> => {
      const record = await gateway.backlog.store.calls.get('default', id);
      return record?.endedAtMs === undefined ? undefined : writtenByTheCall.parse(record);
    };
    const before = await eventually('its record', stored);
    // What came at its end too.
    for (const alter of [undefined, elsewhere])
      for (const { body } of await again(seen(), alter)) expect(body.includes('/stream/')).toBe(false);
    expect(live()).toEqual([]);
    await again(answering, rewritten);
    expect(live()).toEqual([]);
    expect(await stored()).toEqual(before);
  });
});
