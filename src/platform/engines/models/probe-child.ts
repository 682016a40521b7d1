// Opens every model once and exits. The library ends its process on an invalid file, so this runs apart from the platform. It writes each model's
// name before opening it.
import { dirname } from 'node:path';
import { systemClock } from '../../../kernel/clock.ts';
import { errorText } from '../../../kernel/errors.ts';
import { threadDataSchema } from './open-models.ts';
import { openRecogniser } from './open-recogniser.ts';
import { loadSherpa, openDiarizer, openEmbedder, openVoice } from './sherpa.ts';

const name = (what: string): void => void process.stdout.write(`${what}\n`);
const named = (model: { name: string; kind: string; files: { tokens: string } }): void =>
  name(`the model ${model.name} (${model.kind}, files in ${dirname(model.files.tokens)})`);

try {
  const { modelsFolder, models } = threadDataSchema.parse(JSON.parse(process.argv[2] ?? ''));
  const sherpa = loadSherpa(modelsFolder);
  for (const { model, languages } of models.recognition) {
    named(model);
    openRecogniser(sherpa, model, languages, systemClock);
  }
  for (const { model } of models.voices) {
    named(model);
    openVoice(sherpa, model);
  }
  const { embedding, segmentation } = models;
  if (embedding !== undefined) {
    name(`the speaker embedding ${embedding}`);
    openEmbedder(sherpa, embedding);
    if (segmentation !== undefined) {
      name(`the speaker segmentation ${segmentation}`);
      openDiarizer(sherpa, segmentation, embedding);
    }
  }
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 1;
}
