import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Calendar, startClinicServer } from '../../../examples/clinic-server.ts';
import { loadBots } from '../../../src/config/bot-files.ts';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { type CallerStep, ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { sayTones, ToneRecogniser, ToneSynthesizer, type ToneWord } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';

const SECRET = `whsec_${Buffer.from('a secret of the clinic').toString('base64')}`;
const BOTS = fileURLToPath(new URL('../../../config/bots', import.meta.url));
/** What each word of the tone language stands for. */
const MEANINGS: Readonly<Record<string, string>> = {
  alpha: "I'd like an appointment on Tuesday at half past ten",
  bravo: 'yes please',
};

/** Hears tones, and understands what they stand for. */
class PhraseRecogniser extends ToneRecogniser {
  override open(...[options, listener]: Parameters<ToneRecogniser['open']>): ReturnType<ToneRecogniser['open']> {
    const meant = (text: string): string => MEANINGS[text] ?? text;
    const stream = super.open(options, (event) => listener('text' in event ? { ...event, text: meant(event.text) } : event));
    return {
      push: (pcm) => stream.push(pcm),
      close: () => stream.close(),
      commit: async () => (await stream.commit()).map((result) => ({ ...result, text: meant(result.text) })),
    };
  }
}

const say = (word: ToneWord): CallerStep => ({ kind: 'say', text: word, pcm: sayTones([word], 8_000).subarray(1_600) });

it('books an appointment at the clinic’s server in a call, and shows it in the API', async () => {
  const calendar = new Calendar();
  await using server = await startClinicServer(calendar, SECRET);
  const env = { CLINIC_SERVER_URL: server.url, CLINIC_SERVER_SECRET: SECRET };
  const { bots, problems } = loadBots(BOTS, env);
  expect(problems).toEqual([]);
  await using bench = await startGatewayBench({
    bots: bots.filter(({ name }) => name === 'clinic'),
    platform: { engines: { recognition: new PhraseRecogniser(), synthesis: new ToneSynthesizer() } },
  });
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream, 25_000).run([
    say('alpha'),
    say('bravo'),
    { kind: 'press', digits: '2' },
    { kind: 'wait-for-end' },
  ]);
  const { endReason, variables } = await session.ended;
  expect(endReason).toBe('appointment-booked');
  const [booking] = [...calendar.bookings.values()];
  expect(booking).toMatchObject({ number: '1001', from: session.identity.inbound.from, time: '10:30', day: variables['day'] });

  const { secret } = new ApiKeys(join(bench.dataDir, API_KEYS_FILE)).create(
    { name: 'desk', tenantId: 'default', scopes: ['calls:read'] },
    0,
  );
  const shown = async () => {
    const answer = await fetch(`${bench.gateway.url}/api/calls/${session.id}`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    if (answer.ok) return (await answer.json()) as { variables: object; notes: string[] };
    // An answer that is not read keeps its connection, and the gateway waits for it when it closes.
    await answer.body?.cancel();
    return undefined;
  };
  await eventually('the call in the store', async () => (await shown()) !== undefined);
  expect(await shown()).toMatchObject({
    variables: { intent: 'book', day: booking?.day, time: '10:30', booking: '1001', fee: '262.50', reminder: 'none' },
    notes: [expect.stringMatching(/^request book: idempotency-key call_\w+\.2\.book\./)],
  });
});
