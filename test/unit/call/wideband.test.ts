import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import type { AudioFormat } from '../../../src/audio/format.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import { parseWav } from '../../../src/audio/wav.ts';
import { type MeasuredTone, measuredTone, toneDb } from '../../integration/hosts/measured-tone.ts';
import { type BenchLeg, CallBench, type DialogScript } from './call-bench.ts';

const WIDE: AudioFormat = { encoding: 'pcm16', rateHz: 16_000 };
const MULAW: AudioFormat = { encoding: 'mulaw', rateHz: 8_000 };
const ALAW: AudioFormat = { encoding: 'alaw', rateHz: 8_000 };
const TONE_HZ = 6_200;
const BOT_HZ = 700;

const greets: DialogScript = async function* (turn) {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Good morning, this is the clinic, what can I do for you?' };
};

/** A call on this leg whose bot's voice is a tone. */
function callOn(leg: BenchLeg): CallBench {
  const call = new CallBench(greets, { recording: 'always' }, {}, undefined, leg);
  call.voiceOf = (_, { encoding, rateHz }) => encodeAudio(encoding, sine(BOT_HZ, 2_000, rateHz, 0.3));
  return call;
}

/** The half second in which this tone is loudest. */
function loudest(pcm: Int16Array, hz: number, rateHz: number): MeasuredTone {
  const length = rateHz / 2;
  let found = measuredTone(pcm.subarray(0, length), hz, rateHz);
  for (let at = 0; at + length <= pcm.length; at += length / 10) {
    const part = measuredTone(pcm.subarray(at, at + length), hz, rateHz);
    if (toneDb(part.pcm, hz, rateHz) > toneDb(found.pcm, hz, rateHz)) found = part;
  }
  return found;
}

async function recordingOf(call: CallBench) {
  const record = await call.hangUp('enough');
  const wav = parseWav(readFileSync(record.recordingPath ?? ''));
  const [caller = new Int16Array(), bot = new Int16Array()] = wav.samples;
  return { record, rateHz: wav.rateHz, caller, bot };
}

describe('a call on a wideband leg', () => {
  it('has what is above the telephone band in the recogniser and in the recording, with its energy', async () => {
    using call = callOn({ rateHz: 16_000, speechFormat: WIDE });
    await call.start();
    const said = sine(TONE_HZ, 1_000, 16_000, 0.4);
    await call.sound(said);
    await call.quiet(600);
    expect(call.recognitions.map(({ sampleRateHz }) => sampleRateHz)).toEqual([16_000]);
    const saidDb = rmsLevelDb(said);
    const heard = loudest(Int16Array.from(call.listened), TONE_HZ, 16_000);
    expect(Math.abs(heard.levelDb - saidDb)).toBeLessThan(0.2);
    const { rateHz, caller } = await recordingOf(call);
    expect(rateHz).toBe(16_000);
    const kept = loudest(caller, TONE_HZ, 16_000);
    expect(Math.abs(kept.levelDb - saidDb)).toBeLessThan(0.2);
    expect(kept.restDb).toBeLessThan(-60);
  });

  it('sweeps of the whole band are recognised sample for sample as they came', async () => {
    using call = callOn({ rateHz: 16_000, speechFormat: WIDE });
    await call.start();
    const before = call.listened.length;
    const sweep = Int16Array.from({ length: 16_000 }, (_, at) =>
      Math.round(9_000 * Math.sin(2 * Math.PI * ((4_000 * at) / 16_000 + (3_900 * at * at) / (2 * 16_000 * 16_000)))),
    );
    await call.sound(sweep);
    await call.quiet(100);
    const pcm = Int16Array.from(call.listened.slice(before));
    const from = pcm.findIndex((sample) => sample !== 0) - 1;
    expect(pcm.subarray(from, from + sweep.length)).toEqual(sweep);
  });

  it('has turns that end as on a telephone: its detectors hear it at 8 kHz', async () => {
    using call = callOn({ rateHz: 16_000, speechFormat: WIDE });
    await call.start(2_200);
    await call.sound(sine(300, 800, 16_000, 0.3));
    await call.quiet(1_600);
    expect(call.commits).toBe(1);
  });

  it('is spoken to in wideband', async () => {
    using call = callOn({ rateHz: 16_000, speechFormat: WIDE });
    await call.start(2_500);
    expect(call.askedAs).toEqual([WIDE]);
    expect(call.attachment.sentSamples).toBe(32_000);
    const { bot } = await recordingOf(call);
    const wanted = rmsLevelDb(sine(BOT_HZ, 1_000, 16_000, 0.3));
    expect(Math.abs(loudest(bot, BOT_HZ, 16_000).levelDb - wanted)).toBeLessThan(0.1);
  });
});

describe('a leg that sends wideband and plays telephone audio', () => {
  test.each([MULAW, ALAW])('is spoken to in its own $encoding, byte for byte', async (format) => {
    using call = callOn({ rateHz: 16_000, speechFormat: format });
    await call.start(2_500);
    expect(call.askedAs).toEqual([format]);
    const made = encodeAudio(format.encoding, sine(BOT_HZ, 2_000, 8_000, 0.3));
    const { heard } = call.attachment;
    const from = heard.findIndex((sample) => Math.abs(sample) > 20) - 1;
    expect(heard.subarray(from, from + 15_000)).toEqual(decodeAudio(format.encoding, made).subarray(0, 15_000));
  });

  it('has the bot in its wideband recording at its level and in its place, without a click', async () => {
    using call = callOn({ rateHz: 16_000, speechFormat: MULAW });
    await call.start(2_500);
    const { heard } = call.attachment;
    const startMs = (heard.findIndex((sample) => sample !== 0) - 1) / 8;
    const { rateHz, bot } = await recordingOf(call);
    expect(rateHz).toBe(16_000);
    const { levelDb, restDb } = loudest(bot, BOT_HZ, 16_000);
    expect(Math.abs(levelDb - rmsLevelDb(sine(BOT_HZ, 1_000, 16_000, 0.3)))).toBeLessThan(0.1);
    // Mu-law's own noise is at -38 dB; a seam of a sample in each message would be above it.
    expect(restDb).toBeLessThan(-34);
    // The recording begins with the first frame, which ended when the clock was at 10,020 ms.
    const firstMs = bot.findIndex((sample) => Math.abs(sample) > 300) / 16;
    expect(Math.abs(firstMs - (startMs - 10_000))).toBeLessThan(25);
  });
});

describe('a call that comes back on a leg of another rate', () => {
  test.each([
    {
      note: 'from a telephone to a wideband client',
      from: { rateHz: 8_000, speechFormat: MULAW },
      to: { rateHz: 16_000, speechFormat: WIDE },
    },
    {
      note: 'from a wideband client to a telephone',
      from: { rateHz: 16_000, speechFormat: WIDE },
      to: { rateHz: 8_000, speechFormat: MULAW },
    },
  ] as const)('keeps the rate of its first leg: $note', async ({ from, to }) => {
    using call = callOn(from);
    await call.start(2_600);
    call.voiceOf = (_, { encoding, rateHz }) => encodeAudio(encoding, sine(BOT_HZ, 400, rateHz, 0.3));
    await call.reattach(to);
    const before = call.listened.length;
    const said = sine(1_000, 1_000, to.rateHz, 0.3);
    await call.sound(said);
    await call.quiet(8_000);
    // One session all the time, which hears the tone as the tone it is.
    expect(call.recognitions.map(({ sampleRateHz }) => sampleRateHz)).toEqual([from.rateHz]);
    const heard = loudest(Int16Array.from(call.listened.slice(before)), 1_000, from.rateHz);
    expect(Math.abs(heard.levelDb - rmsLevelDb(said))).toBeLessThan(0.2);
    // The question whether anybody is there is played by the new leg at its own rate.
    expect(new Set(call.askedAs)).toEqual(new Set([from.speechFormat]));
    expect(call.attachment.sentSamples).toBeGreaterThan(0);
    const played = loudest(call.attachment.heard, BOT_HZ, to.speechFormat.rateHz);
    expect(played.levelDb).toBeGreaterThan(rmsLevelDb(sine(BOT_HZ, 400, 16_000, 0.3)) - 4);
    const { rateHz, caller, record } = await recordingOf(call);
    // The record says what each leg carried.
    expect(record.attachments.map(({ inbound }) => inbound?.rateHz)).toEqual([from.rateHz, to.rateHz]);
    expect(rateHz).toBe(from.rateHz);
    expect(Math.abs(loudest(caller, 1_000, rateHz).levelDb - rmsLevelDb(said))).toBeLessThan(0.2);
  });
});
