import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { amplify } from '../../../../src/audio/level.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { readModels } from '../../../../src/speech/models/read-models.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { modelSpeakers } from '../../../../src/platform/engines/models/model-speakers.ts';
import type { SpeakerEngine } from '../../../../src/platform/engines/speakers/port.ts';
import { SpeechTape } from '../../../../src/platform/engines/speakers/speech-tape.ts';
import { VoiceTrack } from '../../../../src/platform/engines/speakers/voice-track.ts';
import { buzz } from '../../../support/buzz.ts';
import { writeTinySpeakers } from '../../../support/onnx/tiny-speakers.ts';
import { bright, deep } from '../post-transcription.ts';

const home = mkdtempSync(join(tmpdir(), 'offhook-speakers-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function start(kinds: readonly ('embedding' | 'segmentation')[]): Promise<SpeakerEngine | undefined> {
  const folder = join(home, kinds.join('-'));
  mkdirSync(folder);
  for (const kind of kinds) writeTinySpeakers(join(folder, `tiny-${kind}`), { kind });
  const used = Object.fromEntries(kinds.map((kind) => [kind, `tiny-${kind}`]));
  writeFileSync(join(folder, 'used.json'), JSON.stringify(used));
  return modelSpeakers({ modelsFolder: folder, models: await readModels(folder), clock: systemClock, logger: silentLogger });
}

const speech = (voice: typeof deep, wobble = 1): Int16Array => amplify(buzz({ ...voice, seconds: 2, wobble }), -6);

describe('speaker models', () => {
  it.each([
    ['alone, beside the built-in diarization', ['embedding']],
    ['with a model of who speaks when', ['embedding', 'segmentation']],
  ] as const)('describe voices and tell them apart: %s', async (_, kinds) => {
    await using engine = await start(kinds);
    if (engine === undefined) throw new Error('the models were not used');
    expect(engine.kind).toBe('own:embedding.onnx');
    const [low, lowAgain, high] = await Promise.all(
      [speech(deep), speech(deep, 2), speech(bright)].map((pcm) => engine.embed(pcm)),
    );
    if (low === undefined || lowAgain === undefined || high === undefined) throw new Error('no embedding');
    expect(engine.similarity(low, lowAgain)).toBeGreaterThan(0.9);
    expect(engine.similarity(low, high)).toBeLessThan(0.1);
    // Silence has no voice, and is like none.
    const silence = await engine.embed(new Int16Array(16_000));
    expect([...silence]).toEqual([0]);
    expect(engine.similarity(silence, low)).toBe(0);

    const track = new VoiceTrack();
    const tape = new SpeechTape(engine.tapeSeconds);
    for (const [voice, startS] of [[deep, 3] as const, [bright, 8] as const]) {
      track.add(speech(voice), startS);
      tape.add(speech(voice), startS);
    }
    const { turns, embeddings } = await engine.diarise({ windows: track.windows, tape }, 2);
    expect(turns).toEqual([
      { startS: expect.closeTo(3, 0), endS: expect.closeTo(5, 0), speaker: 0 },
      { startS: expect.closeTo(8, 0), endS: expect.closeTo(10, 0), speaker: 1 },
    ]);
    const [first, second] = embeddings;
    if (first === undefined || second === undefined) throw new Error('no embeddings of speakers');
    expect(engine.similarity(first, low)).toBeGreaterThan(0.9);
    expect(engine.similarity(second, high)).toBeGreaterThan(0.9);
  });
});
