import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vendors } from '../../../src/speech/vendors/registry.ts';
import { ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { type CuttableProxy, startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { platformEngines } from '../../support/vendors/platform-engines.ts';
import { simulatedVendors } from '../../support/vendors/simulated-vendors.ts';
import { startTestPlatform } from '../platform/setup.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);

/** Says back what it heard, in a few words. */
const BOT = `
export async function* respond({ input }) {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello there.' };
  else yield { type: 'say', text: 'Yes, ' + input.text + '.' };
  if (input.text === 'charlie') yield { type: 'hangup', reason: 'said-charlie' };
}
`;

const rows = simulatedVendors.map((row, index) => ({
  ...row,
  title: [row.vendor, row.mode].filter(Boolean).join(' '),
  bot: `bot-${index}`,
  /** A gateway has one configuration of a vendor: its other rows are on another gateway. */
  gateway: simulatedVendors.slice(0, index).filter(({ vendor }) => vendor === row.vendor).length,
}));

const benches: GatewayBench[] = [];
const cables = new Map<string, CuttableProxy[]>();
const started: AsyncDisposable[] = [];

/** Gateways with a bot for each row, that has the speech platform standing by, and the vendors' servers behind cables. */
beforeAll(async () => {
  const use = <Part extends AsyncDisposable>(part: Part): Part => {
    started.unshift(part);
    return part;
  };
  const { authUrl, asrUrl, ttsUrl, apiKey } = use(await startTestPlatform({}, 8_000)).platform;
  const engines = use(platformEngines({ authUrl, asrUrl, ttsUrl, apiKey }));
  for (let gateway = 0; rows.some((row) => row.gateway === gateway); gateway += 1) {
    const env: Record<string, string> = {};
    const otherBots: Record<string, string> = {};
    for (const { bot, vendor, services, voice, start } of rows.filter((row) => row.gateway === gateway)) {
      const own: CuttableProxy[] = [];
      cables.set(bot, own);
      const through = async (url: string): Promise<string> => {
        const to = new URL(url);
        const cable = use(await startCuttableProxy(Number(to.port)));
        own.push(cable);
        to.port = String(cable.port);
        return to.href.replace(/\/$/u, '');
      };
      Object.assign(env, use(await start(engines, through)).env);
      const chosen = (service: 'recognition' | 'synthesis'): string =>
        services.includes(service) ? `[${vendor}, platform]` : 'platform';
      const named = voice === undefined ? '' : `, ${vendor}: ${voice}`;
      otherBots[bot] = [
        `speech: { recogniser: ${chosen('recognition')}, synthesizer: ${chosen('synthesis')}, voices: { platform: Nisha${named} } }`,
        'dialog: { kind: module, file: short.js }',
      ].join('\n');
    }
    benches.push(use(await startGatewayBench({ env, otherBots, files: { 'short.js': Buffer.from(BOT) } })));
  }
});

afterAll(async () => {
  for (const part of started) await part[Symbol.asyncDispose]();
});

describe.concurrent.each(rows)('a call over the simulated $title', (row) => {
  it('is a conversation, which the speech platform carries on when its sockets die', async () => {
    const bench = benches[row.gateway];
    if (bench === undefined) throw new Error('the gateway did not start');
    const call = await bench.dial(undefined, { bot: row.bot });
    const session = bench.sessionOf(call);
    const heard = (turn: number): Promise<boolean> =>
      eventually('an answer', () =>
        bench.news.some((news) => news.type === 'heard' && news.callId === session.id && news.turn === turn),
      );
    const caller = new ScriptedCaller(call.stream, 30_000);
    await caller.run([
      { kind: 'say', text: 'alpha', pcm: speech('alpha') },
      { kind: 'say', text: 'bravo', pcm: speech('bravo') },
    ]);
    await heard(2);
    for (const cable of cables.get(row.bot) ?? []) cable.freeze();
    await caller.run([
      { kind: 'say', text: 'alpha', pcm: speech('alpha', 'bravo') },
      { kind: 'say', text: 'charlie', pcm: speech('charlie') },
      { kind: 'wait-for-end' },
    ]);
    const record = await session.ended;
    expect(record.endReason).toBe('said-charlie');
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo', 'alpha bravo', 'charlie']);
    for (const service of ['recognition', 'synthesis'] as const) {
      const by = record.timeline.flatMap((event) => (event.type === 'speech' && event.service === service ? event.by : []));
      const turns = record.turns.flatMap((turn) => (service === 'recognition' ? turn.recogniser : turn.synthesizer) ?? []);
      if (row.services.includes(service)) {
        expect(by).toEqual([row.vendor, 'platform']);
        expect(turns.slice(-2)).toEqual(['platform', 'platform']);
        // On a busy machine a vendor may be late, and left, before its sockets die.
        expect(turns.join(' ')).toMatch(new RegExp(`^(${row.vendor} )*(platform ?)+$`, 'u'));
      } else expect(new Set([...by, ...turns])).toEqual(new Set(['platform']));
    }
  });
});

it('holds a conversation with every vendor of the registry', () => {
  const simulated = (service: 'recognition' | 'synthesis') =>
    new Set(simulatedVendors.filter(({ services }) => services.includes(service)).map(({ vendor }) => vendor));
  for (const service of ['recognition', 'synthesis'] as const)
    expect(simulated(service)).toEqual(
      new Set(vendors.filter(({ services }) => services.includes(service)).map(({ name }) => name)),
    );
});
