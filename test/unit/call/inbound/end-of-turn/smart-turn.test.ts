import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSmartTurn } from '../../../../../src/call/inbound/end-of-turn/smart-turn.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-end-of-turn-'));
  folders.push(folder);
  return folder;
}

/** A folder with a model's file, and a package beside it that runs models as this code says. */
function modelBeside(code: string): string {
  const folder = temporaryFolder();
  const packageFolder = join(folder, 'node_modules', 'onnxruntime-node');
  mkdirSync(packageFolder, { recursive: true });
  writeFileSync(join(packageFolder, 'index.js'), code);
  writeFileSync(join(folder, 'model.onnx'), '');
  return join(folder, 'model.onnx');
}

const runtime = (inputs: string, answer: string): string => `
  exports.Tensor = class { constructor(type, data, shape) { Object.assign(this, { type, data, shape }); } };
  exports.InferenceSession = { create: async () => ({
    inputNames: ${inputs},
    run: async ({ input_features: given }) => ({ logits: { data: Float32Array.of(${answer}) } }),
  }) };`;

describe('an end-of-turn model', () => {
  it('gets 80 bands of 800 steps, and answers with a likelihood', async () => {
    const model = await openSmartTurn(
      modelBeside(runtime(`['input_features']`, `given.data.length / 128_000 + (given.shape.join() === '1,80,800' ? 0.25 : 0)`)),
    );
    expect(await model.judge(new Int16Array(8_000))).toBe(0.75);
  });

  it('that answers no likelihood is an error', async () => {
    const model = await openSmartTurn(modelBeside(runtime(`['input_features']`, '1.5')));
    await expect(model.judge(new Int16Array(8_000))).rejects.toThrow('answered 1.5');
  });

  it('of another kind is refused', async () => {
    const path = modelBeside(runtime(`['audio', 'sr']`, '1'));
    await expect(openSmartTurn(path)).rejects.toMatchObject({
      code: 'OFFHOOK_TURN_MODEL',
      message: expect.stringContaining('audio, sr'),
    });
  });

  it('that cannot be opened says why', async () => {
    const path = modelBeside(
      `exports.Tensor = class {}; exports.InferenceSession = { create: async () => { throw new Error('no protobuf'); } };`,
    );
    await expect(openSmartTurn(path)).rejects.toThrow(`${path} could not be opened: no protobuf`);
  });

  it('says what to install where nothing can run it', async () => {
    const folder = temporaryFolder();
    await expect(openSmartTurn(join(folder, 'model.onnx'))).rejects.toThrow(
      /npm install --ignore-scripts onnxruntime-node|could not be opened/u,
    );
  });
});
