import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activeLevelDb } from '../../../../src/audio/level.ts';
import { joinSamples } from '../../../../src/audio/samples.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { withModelVoices } from '../../../../src/platform/engines/models/model-voices.ts';
import { readModels } from '../../../../src/speech/models/read-models.ts';
import type { SynthesisEngine, SynthesisRequest } from '../../../../src/platform/engines/synth/port.ts';
import { pitchOf, TOKEN_MS, VOICE_RATE_HZ, writeTinyVoice } from '../../../support/onnx/tiny-voices.ts';
import { ToneSynthesizer } from '../tone-engines.ts';
import { hangs } from '../../../support/patience.ts';
import { untilPasses } from '../../../support/eventually.ts';

const home = mkdtempSync(join(tmpdir(), 'offhook-voices-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Models in a folder, and which of them are used for which language. */
async function voicesFolder(
  name: string,
  used: Readonly<Record<string, string>>,
  models: readonly Parameters<typeof writeTinyVoice>[1][],
): Promise<string> {
  const folder = join(home, name);
  mkdirSync(folder);
  for (const model of models) await writeTinyVoice(join(folder, model.name ?? `tiny-${model.kind}`), model);
  writeFileSync(join(folder, 'used.json'), JSON.stringify({ voices: used }));
  return folder;
}

async function start(folder: string, builtIn = new ToneSynthesizer(), threads = 2): Promise<SynthesisEngine> {
  const opened = { modelsFolder: folder, models: await readModels(folder), clock: systemClock, logger: silentLogger };
  return withModelVoices(builtIn, opened, threads);
}

interface Heard {
  readonly seconds: number;
  /** Of the first voiced part. */
  readonly pitchHz: number;
  readonly levelDb: number;
  readonly rateHz: number;
}

async function say(engine: SynthesisEngine, text: string, voice: string, more: Partial<SynthesisRequest> = {}): Promise<Heard> {
  const parts: Int16Array[] = [];
  const rates = new Set<number>();
  const request = { text, voice, language: undefined, speed: 1, ...more };
  for await (const { pcm, rateHz } of engine.synthesize(request, hangs())) {
    parts.push(pcm);
    rates.add(rateHz);
  }
  expect(rates.size).toBe(1);
  const pcm = joinSamples(parts);
  const [rateHz = 0] = rates;
  return { seconds: pcm.length / rateHz, pitchHz: pitchIn(pcm, rateHz), levelDb: activeLevelDb(pcm, rateHz), rateHz };
}

/** A hum rises through zero once a period. */
function pitchIn(pcm: Int16Array, rateHz: number): number {
  const from = pcm.findIndex((sample) => Math.abs(sample) > 500) + rateHz * 0.01;
  const part = pcm.subarray(from, from + rateHz * 0.05);
  const rises = [...part.keys()].filter((at) => (part[at - 1] ?? 0) < 0 && (part[at] ?? 0) >= 0);
  return ((rises.length - 1) * rateHz) / ((rises.at(-1) ?? 0) - (rises[0] ?? 0));
}

const near = (value: number, by = 0.03): unknown => expect.closeTo(value, -Math.log10(2 * Math.abs(value) * by));

describe('voices of models', () => {
  let vits: SynthesisEngine;
  const builtIn = new ToneSynthesizer();
  beforeAll(async () => {
    const two = { kind: 'vits', languages: ['en', 'hi'], speakers: 2 } as const;
    vits = await start(await voicesFolder('vits', { en: 'tiny-vits', hi: 'tiny-vits' }, [two]), builtIn);
  });
  afterAll(() => vits[Symbol.asyncDispose]());

  it('speak under their own names and under the built-in ones, at the level of all voices', async () => {
    expect(vits.voices.slice(-2).map(({ name }) => name)).toEqual(['tiny-vits-0', 'tiny-vits-1']);
    const eight = (8 * TOKEN_MS) / 1_000;
    const low = { seconds: near(eight), pitchHz: near(pitchOf('c')), levelDb: near(-20, 0.05), rateHz: VOICE_RATE_HZ };
    const high = { ...low, pitchHz: near(pitchOf('c', 1)) };
    expect(await say(vits, 'cccccccc', 'tiny-vits-0')).toEqual(low);
    expect(await say(vits, 'cccccccc', 'Tiny-VITS-1')).toEqual(high);
    // A man's voice, and a woman's.
    expect(await say(vits, 'cccccccc', 'Rajesh', { language: 'en' })).toEqual(low);
    expect(await say(vits, 'cccccccc', 'nisha')).toEqual(high);
    expect(await say(vits, 'cccccccc', 'Rajesh', { language: 'en', speed: 2 })).toEqual({ ...low, seconds: near(eight / 2) });
    expect(builtIn.requests).toEqual([]);
  });

  it('speak every language that one model is used for, and leave sentences in others to the built-in voices', async () => {
    expect((await say(vits, 'नमस्ते नमस्ते', 'Rajesh')).seconds).toBeGreaterThan(0.5);
    expect(builtIn.requests).toEqual([]);
    // At one rate, whatever engine each sentence comes from.
    const mixed = await say(vits, 'aaaa. வணக்கம்.', 'tiny-vits-1');
    expect(mixed.rateHz).toBe(VOICE_RATE_HZ);
    expect(builtIn.requests).toMatchObject([{ text: 'வணக்கம்.', voice: expect.stringMatching(/^(?!tiny)/u) }]);
    await say(vits, 'aaaa', 'tiny-vits-0', { likeness: { pitchHz: 120, rangeSemitones: 1, shape: [], pace: undefined } });
    expect(builtIn.requests[1]).toMatchObject({ text: 'aaaa', voice: expect.stringMatching(/^(?!tiny)/u) });
  });

  it('say what they cannot speak, and go on', async () => {
    await expect(say(vits, '…  —', 'Nisha')).rejects.toThrow('the text holds nothing to speak');
    await expect(say(vits, 'ßß øø', 'Nisha')).rejects.toThrow(
      /^the voice model tiny-vits cannot say this text: it has no sound for its letters or words in English/,
    );
    // The library skips letters that it does not know: two of these are left.
    await expect(say(vits, `${'ß'.repeat(12)}aa`, 'Nisha')).rejects.toThrow('cannot say this text');
    expect((await say(vits, 'aaaa', 'Nisha')).seconds).toEqual(near(4 * (TOKEN_MS / 1_000)));
  });

  it('share one copy of a model between threads', async () => {
    const letters = Array.from('abcdefghijklmnop');
    const heard = await Promise.all(letters.map((letter) => say(vits, letter.repeat(12), 'Rajesh', { language: 'en' })));
    expect(heard.map(({ pitchHz }) => pitchHz)).toEqual(letters.map((letter) => near(pitchOf(letter))));
  });

  it('speak in pieces, the first one short, so that a long text starts soon', async () => {
    const engine = await start(await voicesFolder('pieces', { en: 'tiny-vits' }, [{ kind: 'vits' }]), undefined, 1);
    await using _engine = engine;
    const sentence = 'first part of it, and then a long rest of the same sentence that goes on for a while.';
    const text = `${sentence} ${'more '.repeat(80)}`;
    const whole = text.replaceAll(/\s+/gu, ' ').trim().length * (TOKEN_MS / 1_000);
    expect((await say(engine, text, 'Nisha')).seconds).toEqual(near(whole, 0.05));
    // A caller who barges in leaves after the first sound; the next sentence is spoken all the same.
    for await (const { pcm } of engine.synthesize({ text, voice: 'Nisha', language: 'en', speed: 1 }, hangs())) {
      expect(pcm.length).toBeGreaterThan(0);
      break;
    }
    expect((await say(engine, 'aaaa', 'Nisha')).seconds).toEqual(near(4 * (TOKEN_MS / 1_000)));
  });

  it.each(['matcha', 'kokoro'] as const)('read English with espeak: %s', async (kind) => {
    const names = kind === 'kokoro' ? ['af_bella', 'am_adam', 'hf_alpha'] : 1;
    const folder = await voicesFolder(kind, { en: `tiny-${kind}` }, [{ kind, speakers: names }]);
    await using engine = await start(folder);
    const own = engine.voices.slice(builtIn.voices.length).map(({ name, gender }) => `${name} ${gender}`);
    expect(own).toEqual(kind === 'kokoro' ? ['af_bella female', 'am_adam male', 'hf_alpha female'] : ['tiny-matcha male']);
    const woman = await say(engine, 'Three words here.', 'Nisha');
    const man = await say(engine, 'Three words here.', 'Rajesh', { language: 'en' });
    expect(woman.seconds).toBeGreaterThan(1);
    // Speakers hum a fifth apart: Bella is the first one, Adam the second one.
    if (kind === 'kokoro') expect(man.pitchHz / woman.pitchHz).toEqual(near(1.5));
  });

  it('come back after the library ended its process', async () => {
    const folder = await voicesFolder('ending', { ta: 'tiny-vits' }, [{ kind: 'vits' }]);
    // A stand-in for the package, as far as it is used.
    const stub = join(folder, 'node_modules', 'sherpa-onnx-node');
    mkdirSync(stub, { recursive: true });
    writeFileSync(
      join(stub, 'index.js'),
      `exports.OfflineTts = class {
         async generateAsync({ text }) {
           if (text.includes('அழி')) process.abort();
           return { samples: new Float32Array(16_000).fill(0.25), sampleRate: 16_000 };
         }
       };`,
    );
    await using engine = await start(folder);
    await expect(say(engine, 'அழி', 'Rajesh')).rejects.toMatchObject({ code: 'OFFHOOK_SYNTHESIS_UNAVAILABLE' });
    await untilPasses(async () => expect((await say(engine, 'வணக்கம்', 'Rajesh')).seconds).toBe(1));
  });
});
