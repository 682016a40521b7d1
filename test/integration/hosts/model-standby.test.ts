import { expect, it } from 'vitest';
import { RecognitionUnavailableError } from '../../../src/platform/engines/recognise/port.ts';
import { ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { platformEngines } from '../../support/vendors/platform-engines.ts';
import { simulatedVendors } from '../../support/vendors/simulated-vendors.ts';
import { startTestPlatform } from '../platform/setup.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { startGatewayBench } from './gateway-bench.ts';

const say = (word: ToneWord) => ({ kind: 'say' as const, text: word, pcm: sayTones([word], 8_000).subarray(1_600) });

it('hands a call over to the vendor that stands by when the thread of its model dies in a turn', async () => {
  await using behindVendor = await startTestPlatform({}, 8_000);
  const { authUrl, asrUrl, ttsUrl, apiKey } = behindVendor.platform;
  await using engines = platformEngines({ authUrl, asrUrl, ttsUrl, apiKey });
  const deepgram = simulatedVendors.find(({ vendor }) => vendor === 'deepgram');
  if (deepgram === undefined) throw new Error('there is no simulated Deepgram');
  await using vendor = await deepgram.start(engines, async (url) => url);
  const speech = '{ recogniser: [platform, deepgram], synthesizer: platform }';
  await using bench = await startGatewayBench({ env: vendor.env, otherBots: { careful: `speech: ${speech}` } });
  const call = await bench.dial(undefined, { bot: 'careful' });
  const session = bench.sessionOf(call);
  const caller = new ScriptedCaller(call.stream, 30_000);
  await caller.run([say('alpha')]);
  const gone = new RecognitionUnavailableError('the thread has ended');
  // What the platform does when the thread of an open model ends: the words of this turn are lost to it.
  Object.assign(bench.speech.recognition, { failCommits: gone, failOpens: gone });
  await caller.run([say('bravo'), say('charlie'), { kind: 'wait-for-end' }]);
  const record = await session.ended;
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo', 'charlie']);
  expect(record.turns.map(({ recogniser }) => recogniser).slice(-1)).toEqual(['deepgram']);
  expect(
    record.timeline.flatMap((event) => (event.type === 'speech' && event.service === 'recognition' ? event.by : [])),
  ).toEqual(['platform', 'deepgram']);
});
