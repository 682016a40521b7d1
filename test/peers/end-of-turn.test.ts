import { expect, it } from 'vitest';
import { openSmartTurn } from '../../src/call/inbound/end-of-turn/smart-turn.ts';
import { ONNX_RUNTIME } from '../../src/speech/models/model-library.ts';
import { installedFiles } from '../../src/speech/models/read-models.ts';
import { requireLibrary, requireModel } from '../support/requires.ts';

const NAME = 'smart-turn-v3.2';
const folder = await requireModel(NAME);
const isThere = folder !== undefined && (await requireLibrary(ONNX_RUNTIME, folder));

/** A swept tone that swells, on a telephone line. */
function sweep(seconds: number): Int16Array {
  return Int16Array.from({ length: seconds * 8_000 }, (_, index) => {
    const t = index / 8_000;
    return Math.round(6_000 * Math.sin(2 * Math.PI * (200 * t + 150 * t * t)) * (0.5 + 0.5 * Math.sin(6 * Math.PI * t)));
  });
}

it.skipIf(!isThere)('answers as the code that ships with the model does', async () => {
  const { files } = await installedFiles(folder ?? '', NAME, 'end-of-turn');
  const model = await openSmartTurn(files.model);
  const answers: number[] = [];
  for (const seconds of [2, 6, 10]) answers.push(await model.judge(sweep(seconds)));
  // NumPy and ONNX Runtime in Python, with the features of pipecat-ai 1.14.0.
  for (const [index, expected] of [0.038_061, 0.779_093, 0.957_368].entries()) expect(answers[index]).toBeCloseTo(expected, 3);
});
