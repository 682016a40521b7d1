import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { SpeechAuthError, SpeechUnavailableError } from '../../../../src/speech/client/errors.ts';
import type { RecognitionOptions, SynthesisRequest } from '../../../../src/speech/port.ts';
import { GoogleRecogniser } from '../../../../src/speech/vendors/google/recognition.ts';
import { GoogleSynthesizer } from '../../../../src/speech/vendors/google/synthesis.ts';
import { counting, loud } from '../../../support/vendors/counting.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { audioOf, Listening } from '../../../support/vendors/listening.ts';
import { SimulatedGoogle } from '../../../support/vendors/google.ts';
import { hangs } from '../../../support/patience.ts';
import { untilPasses } from '../../../support/eventually.ts';

let google: SimulatedGoogle;
let recogniser: GoogleRecogniser;
let synthesizer: GoogleSynthesizer;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  google = await SimulatedGoogle.start(counting);
  const account = { credentials: undefined, endpoint: `127.0.0.1:${google.port}` };
  recogniser = new GoogleRecogniser(account, { model: undefined, sessions: 100, clock: systemClock });
  synthesizer = new GoogleSynthesizer(account, { voice: 'en-IN-Chirp3-HD-Kore', requests: 100, clock });
});

afterEach(async () => {
  await recogniser[Symbol.asyncDispose]();
  await synthesizer[Symbol.asyncDispose]();
  await google[Symbol.asyncDispose]();
});

const open = (options: Partial<RecognitionOptions> = {}) => new Listening(recogniser, { language: 'hi', ...options });

const textsOf = (heard: Listening): string[] => heard.of('final').map(({ text }) => text);

it('answers each commit with what was said before it, in order', async () => {
  using heard = open();
  heard.session.send(loud(800));
  heard.session.commit();
  heard.session.send(loud(1_600));
  heard.session.commit();
  heard.session.commit();
  await untilPasses(() => expect(textsOf(heard)).toEqual(['hi-IN 800', 'hi-IN 1600', '']));
  expect(heard.events).toContainEqual({ type: 'partial', seg: 0, text: 'hi-IN so far' });
  expect(heard.events).toContainEqual({ type: 'final', seg: 1, text: 'hi-IN 1600', endOfUtterance: undefined, language: 'hi' });
  await heard.session.end();
  expect(heard.events.at(-1)).toEqual({ type: 'closed', error: undefined });
});

it('says the turn again to a new stream when one is lost in its middle', async () => {
  google.faults = { failAfterMessages: 3 };
  using heard = open();
  for (let sent = 0; sent < 10; sent += 1) heard.session.send(loud(800));
  heard.session.commit();
  await untilPasses(() => expect(textsOf(heard)).toEqual(['hi-IN 8000']));
  expect(heard.events.filter(({ type }) => type === 'reconnecting')).toHaveLength(1);
  heard.session.abort();
});

it('goes on in a new stream, as if nothing had been, when one became too old', async () => {
  google.faults = { failAfterMessages: 3, failWith: { code: 11, details: 'Exceeded maximum allowed stream duration' } };
  const account = { credentials: undefined, endpoint: `127.0.0.1:${google.port}` };
  await using old = new GoogleRecogniser(account, { model: undefined, sessions: 100, clock });
  using heard = new Listening(old, { language: 'hi' });
  clock.advance(300_000);
  for (let sent = 0; sent < 10; sent += 1) heard.session.send(loud(800));
  heard.session.commit();
  await untilPasses(() => expect(textsOf(heard)).toEqual(['hi-IN 8000']));
  expect(heard.events.some(({ type }) => type === 'reconnecting')).toBe(false);
  heard.session.abort();
});

it('ends at once where the account is refused', async () => {
  google.faults = { failAfterMessages: 1, failures: 99, failWith: { code: 16, details: 'Request had invalid credentials' } };
  using heard = open();
  heard.session.send(loud(800));
  await untilPasses(() => expect(heard.events.at(-1)?.type).toBe('closed'));
  expect(heard.events.at(-1)).toMatchObject({ error: expect.any(SpeechAuthError) as unknown });
});

it('gives hints to the turns that begin after they were set', async () => {
  using heard = open({ boostPhrases: ['opening hours'] });
  heard.session.send(loud(800));
  heard.session.listenFor?.(['account number']);
  heard.session.commit();
  heard.session.send(loud(800));
  heard.session.commit();
  await untilPasses(() => expect(textsOf(heard)).toHaveLength(2));
  expect(google.opened.slice(0, 2).map(({ hints }) => hints)).toEqual([['opening hours'], ['account number']]);
  heard.session.abort();
  await untilPasses(() => expect(google.cancelled).toBeGreaterThan(0));
});

async function spoken(request: Partial<SynthesisRequest>): Promise<number> {
  const asked = { text: 'hello', voice: 'hi-IN-Chirp3-HD-Kore', language: 'hi', ...request };
  return (await audioOf(synthesizer.speak(asked, hangs()))).length;
}

it.each([
  { note: 'streamed by a voice that can be', voice: 'hi-IN-Chirp3-HD-Kore', streamed: true },
  { note: 'whole by any other', voice: 'hi-IN-Wavenet-A', streamed: false },
])('speaks in the format of the call: $note', async ({ voice, streamed }) => {
  expect(await spoken({ voice })).toBe(800);
  expect(await spoken({ voice, format: { encoding: 'pcm16', rateHz: 16_000 } })).toBe(3_200);
  expect(google.spoken).toEqual([
    { voice, text: 'hello', streamed },
    { voice, text: 'hello', streamed },
  ]);
});

it.each(['hi-IN-Chirp3-HD-Kore', 'hi-IN-Wavenet-A'])(
  'gives up a sentence of %s that stays silent, and one nobody wants',
  async (voice) => {
    google.isSilent = true;
    const asked = { text: 'hello', voice, language: 'hi' };
    const silent = audioOf(synthesizer.speak(asked, hangs()));
    await untilPasses(() => expect(google.spoken).toHaveLength(1));
    clock.advance(10_000);
    await expect(silent).rejects.toThrow(SpeechUnavailableError);
    const unwanted = new AbortController();
    const left = audioOf(synthesizer.speak(asked, unwanted.signal));
    await untilPasses(() => expect(google.spoken).toHaveLength(2));
    unwanted.abort(new Error('the caller speaks'));
    await expect(left).rejects.toThrow('the caller speaks');
  },
);
