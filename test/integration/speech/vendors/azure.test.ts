import { afterEach, beforeEach, expect, it } from 'vitest';
import { Secret } from '../../../../src/config/secrets.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { SpeechAuthError } from '../../../../src/speech/client/errors.ts';
import type { RecognitionOptions, SynthesisRequest } from '../../../../src/speech/port.ts';
import { azure as azureVendor } from '../../../../src/speech/vendors/azure/vendor.ts';
import { AzureRecogniser } from '../../../../src/speech/vendors/azure/recognition.ts';
import { SimulatedAzure } from '../../../support/vendors/azure.ts';
import { counting, loud } from '../../../support/vendors/counting.ts';
import { audioOf, Listening } from '../../../support/vendors/listening.ts';
import { hangs } from '../../../support/patience.ts';
import { untilPasses } from '../../../support/eventually.ts';

const KEY = 'azure-key-0123456789';
let azure: Awaited<ReturnType<typeof SimulatedAzure.start>>;

beforeEach(async () => {
  azure = await SimulatedAzure.start(counting, KEY);
});

afterEach(async () => {
  await azure[Symbol.asyncDispose]();
});

function open(options: Partial<RecognitionOptions> = {}, key = KEY) {
  return new Listening(new AzureRecogniser({ key, region: 'none', host: `ws://127.0.0.1:${azure.port}` }, systemClock), {
    language: 'hi',
    ...options,
  });
}

const textsOf = (heard: Listening): string[] => heard.of('final').map(({ text }) => text);

it('answers each commit with what was said before it, in order', async () => {
  using heard = open();
  heard.session.send(loud(800));
  heard.session.commit();
  heard.session.send(loud(1_600));
  heard.session.commit();
  heard.session.commit();
  await untilPasses(() => expect(textsOf(heard)).toEqual(['hi-IN 800', 'hi-IN 1600', '']));
  expect(heard.events[0]).toEqual({ type: 'ready' });
  expect(heard.events).toContainEqual({ type: 'partial', seg: 0, text: 'hi-IN so far' });
  expect(heard.events.flatMap((event) => (event.type === 'final' ? [event.seg] : []))).toEqual([0, 1, 2]);
  await heard.session.end();
  expect(heard.events.at(-1)).toEqual({ type: 'closed', error: undefined });
});

it('says the same turn again to a new socket when one is cut in its middle', async () => {
  azure.faults = { cutAfterMessages: 3 };
  using heard = open();
  for (let sent = 0; sent < 10; sent += 1) heard.session.send(loud(800));
  heard.session.commit();
  await untilPasses(() => expect(textsOf(heard)).toEqual(['hi-IN 8000']));
  expect(heard.events.filter(({ type }) => type === 'reconnecting')).toHaveLength(1);
  heard.session.abort();
});

it('ends with an error that does not hold the key where the key is refused', async () => {
  using heard = open({}, 'another-key-987654321');
  await untilPasses(() => expect(heard.events.at(-1)?.type).toBe('closed'));
  const last = heard.events.at(-1);
  expect(last).toMatchObject({ type: 'closed', error: expect.any(SpeechAuthError) as unknown });
  expect(JSON.stringify(last)).not.toContain('another-key');
});

it('gives hints to the turns that begin after they were set', async () => {
  using heard = open({ boostPhrases: ['opening hours'] });
  heard.session.send(loud(800));
  heard.session.listenFor?.(['account number']);
  heard.session.commit();
  heard.session.send(loud(800));
  heard.session.commit();
  await untilPasses(() => expect(textsOf(heard)).toHaveLength(2));
  expect(azure.hints.slice(0, 2)).toEqual([['opening hours'], ['account number']]);
  heard.session.abort();
});

async function spoken(request: Partial<SynthesisRequest>, key = KEY): Promise<number> {
  const settings = azureVendor.settings.parse({ region: 'centralindia', synthesisUrl: `http://127.0.0.1:${azure.port}` });
  const parts = { clock: systemClock, logger: silentLogger };
  await using vendor = azureVendor.open({ settings, secrets: { key: [new Secret(key)] } }, parts);
  const asked = { text: 'Your order <5> & more', voice: 'hi-IN-SwaraNeural', language: 'hi', ...request };
  const audio = vendor?.synthesizer?.speak(asked, hangs());
  return audio === undefined ? -1 : (await audioOf(audio)).length;
}

it('speaks in the format of the call, and in what it makes itself where it can', async () => {
  expect(await spoken({})).toBe(800);
  expect(await spoken({ format: { encoding: 'alaw', rateHz: 8_000 } })).toBe(800);
  expect(await spoken({ format: { encoding: 'pcm16', rateHz: 11_025 } })).toBeGreaterThan(2_000);
  expect(azure.spoken.map(({ format }) => format)).toEqual([
    'raw-8khz-8bit-mono-mulaw',
    'raw-8khz-8bit-mono-alaw',
    'raw-24khz-16bit-mono-pcm',
  ]);
  expect(azure.spoken[0]?.ssml).toContain('Your order &lt;5&gt; &amp; more');
  expect(azure.spoken[0]?.ssml).toContain('xml:lang="hi-IN"><voice name="hi-IN-SwaraNeural">');
});

it('says which key was refused for a sentence', async () => {
  await expect(spoken({}, 'another-key-987654321')).rejects.toThrow(SpeechAuthError);
});
