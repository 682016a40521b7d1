import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecognitionModel, VoiceModel } from '../../../../../src/speech/models/model.ts';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import { openModels } from '../../../../../src/platform/engines/models/open-models.ts';
import { openRecogniser } from '../../../../../src/platform/engines/models/open-recogniser.ts';
import { loadSherpa, openVoice } from '../../../../../src/platform/engines/models/sherpa.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-models-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the package for models', () => {
  const voice: VoiceModel = {
    name: 'voice-ta',
    role: 'voice',
    kind: 'vits',
    languages: ['ta'],
    files: { model: 'voice.onnx', tokens: 'tokens.txt' },
  };
  const transducer: RecognitionModel = {
    name: 'hears-ta',
    role: 'recognition',
    kind: 'streaming-transducer',
    languages: ['ta'],
    files: { encoder: 'encoder.onnx', decoder: 'decoder.onnx', joiner: 'joiner.onnx', tokens: 'tokens.txt' },
  };

  function install(code: string): void {
    mkdirSync(join(folder, 'node_modules', 'sherpa-onnx-node'), { recursive: true });
    writeFileSync(join(folder, 'node_modules', 'sherpa-onnx-node', 'index.js'), code);
  }

  it('is asked for by name when it is not installed', () => {
    const load = (): unknown => loadSherpa(folder, [join(folder, 'package.json')]);
    expect(load).toThrow(/sherpa-onnx-node: it is not installed: npm install sherpa-onnx-node/);
  });

  it('is told apart from another package of its name', () => {
    install('module.exports = {};');
    expect(() => openVoice(loadSherpa(folder), voice)).toThrow(/sherpa-onnx-node has no OfflineTts/);
  });

  it('says why it cannot be loaded', () => {
    install('throw new Error("no library for this machine");');
    expect(() => loadSherpa(folder)).toThrow(/no library for this machine/);
  });

  it("passes the library's own words on when a file is no model", async () => {
    install(`module.exports = { OnlineRecognizer: class { constructor({ modelConfig }) {
      throw new Error('cannot read ' + modelConfig.transducer.encoder);
    } } };`);
    expect(() => openRecogniser(loadSherpa(folder), transducer, ['ta'], systemClock)).toThrow(
      /the model hears-ta could not be opened: cannot read encoder\.onnx/,
    );
  });

  it('names an unknown language before anything is opened', async () => {
    const home = join(folder, 'voices', 'xx');
    mkdirSync(home, { recursive: true });
    for (const file of ['voice.onnx', 'tokens.txt']) writeFileSync(join(home, file), '');
    const opened = openModels(folder, systemClock, silentLogger);
    await expect(opened).rejects.toThrow(/voice-xx is used for xx, which is not the code of a language/);
  });
});
