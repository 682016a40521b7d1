import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { OwnModelError } from '../../../../src/platform/engines/errors.ts';
import { withOwnModels } from '../../../../src/platform/engines/own/own-recogniser.ts';
import type { RecognitionEngineEvent } from '../../../../src/platform/engines/port.ts';
import { ToneRecogniser } from '../tone-engines.ts';

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
       isReady() { return false; }
       decode() {}
       getResult({ seconds }) { return { text: ' vanakkam'.repeat(seconds), tokens: [], timestamps: [] }; }
     };`,
  );
}
const start = (builtIn = new ToneRecogniser()) =>
  withOwnModels(builtIn, { modelsFolder: folder, clock: systemClock, logger: silentLogger });

describe('models of the user', () => {
  it('hear their language in a thread of their own, and leave the others to the built-in recogniser', async () => {
    install('');
    const builtIn = new ToneRecogniser();
    await using engine = await start(builtIn);
    expect(engine.languages).toEqual(['en', 'hi', 'ta']);
    const events: RecognitionEngineEvent[] = [];
    const stream = engine.open({ language: 'ta', rateHz: 8_000, boostPhrases: [] }, (event) => events.push(event));
    stream.push(new Int16Array(16_000));
    expect(await stream.commit()).toMatchObject({ text: 'vanakkam vanakkam', language: 'ta' });
    expect(events).toEqual([{ type: 'partial', text: 'vanakkam vanakkam' }]);
    stream.close();
    for (const language of ['en', 'auto']) engine.open({ language, rateHz: 8_000, boostPhrases: [] }, () => undefined).close();
    expect(builtIn.opened.map(({ language }) => language)).toEqual(['en', 'auto']);
  });

  it('say what is missing when the package is not installed', async () => {
    const failed = await start().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(OwnModelError);
    expect(String(failed)).toContain('npm install sherpa-onnx-node');
  });

  it('take no more than their own process along when the library ends it', async () => {
    install(`process.stderr.write('Load model from encoder.onnx failed: Protobuf parsing failed.\\n'); process.abort();`);
    await expect(start()).rejects.toThrow(/the models cannot be opened: Load model from encoder.onnx failed/);
  });
});
