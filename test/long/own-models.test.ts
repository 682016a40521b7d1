import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { ModelOpenError, openModels } from '../../src/platform/engines/models/open-models.ts';
import { withModelRecognition } from '../../src/platform/engines/models/model-recognition.ts';
import { ownSpeakers } from '../../src/platform/engines/own/own-speakers.ts';
import { loadSherpa } from '../../src/platform/engines/models/sherpa.ts';
import { withOwnVoices } from '../../src/platform/engines/own/own-voices.ts';
import { amplify } from '../../src/audio/level.ts';
import { VoiceTrack } from '../../src/platform/engines/speakers/voice-track.ts';
import { SpeechTape } from '../../src/platform/engines/speakers/speech-tape.ts';
import { buzz } from '../support/buzz.ts';
import { bright, deep } from '../integration/platform/post-transcription.ts';
import { ToneRecogniser, ToneSynthesizer } from '../integration/platform/tone-engines.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-models-'));
  mkdirSync(join(folder, 'recognition', 'ta'), { recursive: true });
  for (const file of ['encoder.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt']) {
    writeFileSync(join(folder, 'recognition', 'ta', file), '');
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A stand-in for the package, as far as it is used: hears one word a second. */
function install(opening: string): void {
  const home = join(folder, 'node_modules', 'sherpa-onnx-node');
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, 'index.js'),
    `class Stream { seconds = 0; acceptWaveform({ samples, sampleRate }) { this.seconds += samples.length / sampleRate; } inputFinished() {} }
     exports.OnlineRecognizer = class {
       constructor() { ${opening} }
       createStream() { return new Stream(); }
       isReady() { return true; }
       decode() {}
       getResult({ seconds }) { return { text: ' vanakkam'.repeat(seconds), tokens: [], timestamps: [] }; }
     };
     // Bright voices cross zero more often than deep ones.
     const bright = (samples) => { let n = 0; for (let i = 1; i < samples.length; i++) n += samples[i - 1] < 0 && samples[i] >= 0; return n / samples.length > 0.11; };
     exports.SpeakerEmbeddingExtractor = class {
       createStream() { return { acceptWaveform({ samples }) { this.bright = bright(samples); }, inputFinished() {} }; }
       compute(stream) { return Float32Array.from(stream.bright ? [3, 0, 0] : [0, 0, 5]); }
     };
     exports.OfflineSpeakerDiarization = class {
       setConfig(config) { if (config.clustering.numClusters !== 2) throw new Error('asked for ' + config.clustering.numClusters); }
       process(samples) {
         const half = samples.length / 2;
         return [0, 1].map((part) => ({ start: part * half / 16_000, end: (part + 1) * half / 16_000, speaker: 7 - part }));
       }
     };
     exports.OfflineTts = class {
       numSpeakers = 2;
       constructor() { ${opening} }
       generate({ text, sid, speed }) {
         if (text.includes('அழி')) process.exit(7);
         if (text.includes('பிழை')) throw new Error('no such phoneme');
         return { samples: new Float32Array(Math.round(text.length * 1600 / speed)).fill(sid === 0 ? 0.25 : -0.25), sampleRate: 16_000 };
       }
     };`,
  );
}
const opened = () => openModels(folder, systemClock, silentLogger);
const start = async (builtIn = new ToneRecogniser()) => withModelRecognition(builtIn, await opened());

/** Voices stand where recognition stood. */
function onlyVoices(): void {
  rmSync(join(folder, 'recognition'), { recursive: true });
  mkdirSync(join(folder, 'voices', 'ta'), { recursive: true });
  for (const file of ['voice.onnx', 'tokens.txt']) writeFileSync(join(folder, 'voices', 'ta', file), '');
}

describe('models of the user', () => {
  it('say what is missing when the package is not installed', () => {
    const load = (): unknown => loadSherpa(folder, [join(folder, 'package.json')]);
    expect(load).toThrow(ModelOpenError);
    expect(load).toThrow('npm install sherpa-onnx-node');
  });

  it('take no more than their own process along when the library ends it', async () => {
    install(`process.stderr.write('Load model from encoder.onnx failed: Protobuf parsing failed.\\n'); process.abort();`);
    await expect(start()).rejects.toThrow(/the model recognition-ta .* cannot be opened: Load model from encoder.onnx failed/);
  });

  it('speak their language, sentence by sentence, and leave the others to the built-in voices', async () => {
    install('');
    onlyVoices();
    const builtIn = new ToneSynthesizer();
    await using engine = await withOwnVoices(builtIn, await opened());
    const say = async (text: string, voice: string, more: object = {}) => {
      const parts = [];
      const request = { text, voice, language: undefined, speed: 1, ...more };
      for await (const { pcm, rateHz } of engine.synthesize(request, AbortSignal.timeout(20_000))) parts.push({ pcm, rateHz });
      const samples = parts.reduce((sum, { pcm }) => sum + pcm.length, 0);
      return { seconds: samples / (parts[0]?.rateHz ?? 1), sign: Math.sign(parts[0]?.pcm.at(-1) ?? 0) };
    };
    expect(engine.voices).toBe(builtIn.voices);
    // Ten letters a second, and a pause between sentences.
    expect(await say('வணக்கம்', 'Rajesh')).toEqual({ seconds: expect.closeTo(0.7, 1), sign: 1 });
    expect(await say('வணக்கம்', 'nisha', { speed: 2 })).toEqual({ seconds: expect.closeTo(0.35, 1), sign: -1 });
    const two = await say('வணக்கம். நன்றி.', 'Rajesh', { levelWhole: true });
    expect(two.seconds).toBeGreaterThan(1.4);
    expect(builtIn.requests).toEqual([]);
    await say('Hello', 'Nisha');
    await say('வணக்கம்', 'Rajesh', { likeness: { pitchHz: 120, range: 1 } });
    expect(builtIn.requests.map(({ text }) => text)).toEqual(['Hello', 'வணக்கம்']);
  });

  it('say what a voice could not speak, and come back after the library ended their thread', async () => {
    install('');
    onlyVoices();
    await using engine = await withOwnVoices(new ToneSynthesizer(), await opened());
    const say = async (text: string): Promise<number> => {
      let samples = 0;
      const request = { text, voice: 'Rajesh', language: 'ta', speed: 1 };
      for await (const { pcm } of engine.synthesize(request, AbortSignal.timeout(20_000))) samples += pcm.length;
      return samples;
    };
    await expect(say('பிழை')).rejects.toThrow('no such phoneme');
    await expect(say('அழி')).rejects.toMatchObject({ code: 'OFFHOOK_SYNTHESIS_UNAVAILABLE' });
    expect(await say('வணக்கம்')).toBeGreaterThan(0);
  });

  const speech = (voice: typeof deep) => amplify(buzz({ ...voice, seconds: 2, wobble: 1 }), -6);

  it.each([
    ['alone, beside the built-in diarization', ['embedding.onnx']],
    ['with a model of who speaks when', ['embedding.onnx', 'segmentation.onnx']],
  ])('describe voices and tell them apart: %s', async (_, files) => {
    install('');
    rmSync(join(folder, 'recognition'), { recursive: true });
    mkdirSync(join(folder, 'speakers'));
    for (const file of files) writeFileSync(join(folder, 'speakers', file), '');
    await using engine = (await ownSpeakers(await opened()))!;
    expect(engine.kind).toBe('own:embedding.onnx');
    expect([...(await engine.embed(speech(deep)))]).toEqual([0, 0, 5]);
    expect([...(await engine.embed(new Int16Array(16_000)))]).toEqual([0]);
    expect(engine.similarity(Float32Array.of(0, 5), Float32Array.of(0, 2))).toBeGreaterThan(0.9);
    expect(engine.similarity(Float32Array.of(0, 5), Float32Array.of(2, 0))).toBeLessThan(0.1);
    expect(engine.similarity(Float32Array.of(0), Float32Array.of(2, 0))).toBe(0);

    const track = new VoiceTrack();
    const tape = new SpeechTape(engine.tapeSeconds);
    for (const [voice, startS] of [[deep, 3] as const, [bright, 8] as const]) {
      track.add(speech(voice), startS);
      tape.add(speech(voice), startS);
    }
    const { turns, embeddings } = await engine.diarise({ windows: track.windows, tape }, 2);
    expect(turns).toEqual([
      { startS: 3, endS: 5, speaker: 0 },
      { startS: 8, endS: 10, speaker: 1 },
    ]);
    expect(embeddings.map((embedding) => [...embedding])).toEqual([
      [0, 0, 5],
      [3, 0, 0],
    ]);
  });

  it('leave voices to the built-in way where there is no model of them', async () => {
    install('');
    expect(await ownSpeakers(await opened())).toBeUndefined();
  });
});
