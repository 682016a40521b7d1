import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AudioFormat } from '../../../src/audio/format.ts';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import { amplify, rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import { parseWav } from '../../../src/audio/wav.ts';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import type { MessageSink } from '../../../src/carriers/media-codec.ts';
import { twilio } from '../../../src/carriers/twilio/carrier.ts';
import { twilioDialect } from '../../../src/carriers/twilio/dialect.ts';
import { vonage } from '../../../src/carriers/vonage/carrier.ts';
import { SpeechPlatform } from '../../../src/speech/index.ts';
import { ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { SimulatedVonageApi } from '../../../src/sim/vonage/api.ts';
import { dialVonage, type SimulatedVonageCall } from '../../../src/sim/vonage/carrier.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';
import { type MeasuredTone, measuredTone, purest, toneDb } from './measured-tone.ts';

const APPLICATION = '8f8ac51e-5a0a-4a4e-9d0c-0f3c9f2b7a11';
const ALAW: AudioFormat = { encoding: 'alaw', rateHz: 8000 };
/** A carrier that speaks Twilio's protocol over legs of either law, as European networks have them. */
const european: Carrier = {
  ...twilio,
  name: 'european',
  speechFormat: ALAW,
  codec: () =>
    new KeepingCodec({
      ...twilioDialect,
      start: { ...twilioDialect.start, encodings: { 'audio/x-mulaw': 'mulaw', 'audio/x-alaw': 'alaw' } },
    }),
};

/** What the last call of that carrier was sent. */
let sentBytes: Uint8Array[] = [];

class KeepingCodec extends JsonCodec {
  readonly #sent: Uint8Array[] = (sentBytes = []);

  override audio(payload: Uint8Array, to: MessageSink): void {
    this.#sent.push(Uint8Array.from(payload));
    super.audio(payload, to);
  }
}

let bench: GatewayBench;
const time = startPatientClock();
let api: SimulatedVonageApi;

beforeAll(async () => {
  api = await new SimulatedVonageApi(APPLICATION, { clock: time.clock }).listen();
  bench = await startGatewayBench({
    clock: time.clock,
    carriers: [twilio, european, vonage],
    env: {
      OFFHOOK_VONAGE_SIGNATURE_SECRET: 'signature-secret',
      OFFHOOK_VONAGE_APPLICATION_ID: APPLICATION,
      OFFHOOK_VONAGE_PRIVATE_KEY: api.privateKey,
      OFFHOOK_VONAGE_API_URL: api.url,
    },
  });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  time[Symbol.dispose]();
});

async function dial(): Promise<SimulatedVonageCall> {
  const call = await dialVonage({
    url: bench.gateway.url,
    signatureSecret: 'signature-secret',
    applicationId: APPLICATION,
    clock: time.clock,
    stream: { lineNoise: 0 },
  });
  api.register(call);
  return call;
}

const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);

// Calls take their time in silence and speech: they share it.
describe.concurrent('a leg whose start says A-law', () => {
  it('is heard and spoken to in A-law', async () => {
    const call = await bench.dial({ law: 'alaw', lineNoise: 0 }, { carrier: 'european' });
    const session = bench.sessionOf(call);
    const caller = new ScriptedCaller(call.stream, 25_000);
    await caller.run([{ kind: 'say', text: 'bravo', pcm: speech('bravo', 'bravo') }]);
    await eventually('the answer', () =>
      bench.news.some((news) => news.type === 'heard' && news.callId === session.id && news.turn === 1),
    );
    await call.hangUp();
    const record = await session.ended;
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'bravo bravo']);
    // What the caller's ear decodes as A-law is the tone that the platform spoke; mu-law bytes would be noise there.
    const { levelDb, restDb } = purest(call.stream.buffer.heard, 440, 8_000);
    expect(levelDb).toBeGreaterThan(-25);
    expect(restDb).toBeLessThan(-30);
    const [left = new Int16Array()] = parseWav(readFileSync(record.recordingPath ?? '')).samples;
    const said = rmsLevelDb(speech('bravo').subarray(0, 2_400));
    const kept = purest(left, 800, 8_000);
    expect(Math.abs(kept.levelDb - said)).toBeLessThan(0.2);
    expect(kept.restDb).toBeLessThan(-30);
    expect(call.stream.complaints).toEqual([]);
  });
});

/** The bytes of a sentence as the platform makes them in A-law. */
async function platformSays(text: string): Promise<Uint8Array> {
  const { authUrl, ttsUrl, apiKey } = bench.speech.platform;
  await using client = new SpeechPlatform({ authUrl, ttsUrl, apiKey });
  const wanted = { text, voice: 'Nisha', language: 'en', format: 'alaw' } as const;
  return await buffer(client.stream(wanted, new AbortController().signal));
}

describe.concurrent('speech for a leg whose start says A-law', () => {
  it('is made as A-law and goes out byte for byte, but for the one gain that makes all voices alike', async () => {
    const call = await bench.dial({ law: 'alaw', lineNoise: 0 }, { carrier: 'european' });
    const sent = sentBytes;
    const made = await platformSays('Hello there, please say a word.');
    await eventually('the greeting', () => sent.reduce((sum, { length }) => sum + length, 0) >= made.length);
    await call.hangUp();
    const wire = Buffer.concat(sent).subarray(0, made.length);
    const gains = Array.from({ length: 21 }, (_, index) => index - 10).filter((gainDb) =>
      wire.equals(encodeAudio('alaw', amplify(decodeAudio('alaw', made), gainDb))),
    );
    expect(gains).toHaveLength(1);
  });
});

describe.concurrent('a call over the binary socket of Vonage', () => {
  it('is a conversation at 16 kHz, in messages of one frame each, with nothing but the voices in it', async () => {
    const call = await dial();
    const session = bench.sessionOf(call);
    const { line: stream } = call;
    if (stream === undefined) throw new Error('the call has no socket');
    const caller = new ScriptedCaller(stream, 25_000);
    const reports = await caller.run([
      { kind: 'say', text: 'alpha', pcm: speech('alpha') },
      { kind: 'interrupt', text: 'bravo', pcm: speech('bravo', 'bravo'), afterMs: 1_000 },
      { kind: 'press', digits: '7' },
      { kind: 'say', text: 'charlie', pcm: speech('charlie') },
      { kind: 'wait-for-end' },
    ]);
    const record = await session.ended;
    await call.ended;
    expect(record.endReason).toBe('said-charlie');
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo bravo', '7', 'charlie']);
    expect(record).toMatchObject({ carrier: 'vonage', from: '+15550100001', to: '+15550100002' });
    expect(reports.find(({ kind }) => kind === 'interrupt')?.botSilentMs).toBeLessThan(300);
    expect(stream.texts).toContain('{"action":"clear"}');
    expect(stream.complaints).toEqual([]);
    expect([...stream.payloadBytes.keys()]).toEqual([640]);
    // The voice of the platform is there, and neither its image above the telephone band nor anything else.
    const { levelDb, restDb, pcm } = purest(stream.playout.heard, 440, 16_000);
    expect(levelDb).toBeGreaterThan(-25);
    expect(restDb).toBeLessThan(-30);
    expect(toneDb(pcm, 8_000 - 440, 16_000) - levelDb).toBeLessThan(-60);
    // The caller's is in the recording, at the level it was spoken with.
    const wav = parseWav(readFileSync(record.recordingPath ?? ''));
    expect(wav.rateHz).toBe(16_000);
    const said = rmsLevelDb(speech('alpha').subarray(0, 2_400));
    const kept = purest(wav.samples[0] ?? new Int16Array(), 400, 16_000);
    expect(Math.abs(kept.levelDb - said)).toBeLessThan(0.2);
    expect(kept.restDb).toBeLessThan(-60);
    expect(call.events.at(-1)).toBe('completed');
    // Marks came back by notifications: every sentence that was played is known to have been.
    expect(record.playout.latenessP95Ms).toBeDefined();
  });

  it('is heard by the recogniser and recorded above the telephone band', async () => {
    const call = await dial();
    const session = bench.sessionOf(call);
    if (call.line === undefined) throw new Error('the call has no socket');
    const said = sine(6_200, 1_000, 16_000, 0.3);
    const heard: MeasuredTone[] = [];
    bench.speech.recognition.onAudio = (pcm, rateHz) => {
      const sound = measuredTone(pcm, 6_200, rateHz);
      if (rateHz === 16_000 && sound.levelDb > -40 && sound.restDb < -50) heard.push(sound);
    };
    // Read as the call ends: a moment later it is sealed.
    const recording = session.ended.then(({ recordingPath }) => parseWav(readFileSync(recordingPath ?? '')));
    call.line.say(said, 16_000);
    // 20 ms each: all but what is at an edge.
    await eventually('the tone at the recogniser', () => heard.length >= 45);
    for (const { levelDb } of heard) expect(Math.abs(levelDb - rmsLevelDb(said))).toBeLessThan(0.2);
    await call.hangUp();
    const [left = new Int16Array()] = (await recording).samples;
    const kept = purest(left, 6_200, 16_000);
    expect(Math.abs(kept.levelDb - rmsLevelDb(said))).toBeLessThan(0.2);
    expect(kept.restDb).toBeLessThan(-60);
  });

  it('is transferred and gets keys over the REST interface, and ends there', async () => {
    const call = await dial();
    const session = bench.sessionOf(call);
    if (call.line === undefined) throw new Error('the call has no socket');
    await new ScriptedCaller(call.line, 15_000).run([{ kind: 'press', digits: '5' }]);
    await eventually('the keys', () => call.digits.length === 2);
    expect(call.digits).toEqual(['1', '2']);
    await new ScriptedCaller(call.line, 15_000).run([{ kind: 'press', digits: '6' }]);
    await call.ended;
    expect(call.dialled).toBe('15550100');
    expect((await session.ended).endReason).toBe('transferred');
  });
});
