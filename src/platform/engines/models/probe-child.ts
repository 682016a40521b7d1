// Opens every model once and exits. The library ends its whole process for a file that is no model, so this runs apart from the platform.
import { threadDataSchema } from './open-models.ts';
import { loadSherpa, openDiarizer, openEmbedder, openRecognizer, openVoice } from './sherpa.ts';

try {
  const { modelsFolder, models } = threadDataSchema.parse(JSON.parse(process.argv[2] ?? ''));
  const sherpa = loadSherpa(modelsFolder);
  for (const { model } of models.recognition) openRecognizer(sherpa, model);
  for (const { model } of models.voices) openVoice(sherpa, model);
  if (models.embedding !== undefined) openEmbedder(sherpa, models.embedding);
  if (models.embedding !== undefined && models.segmentation !== undefined)
    openDiarizer(sherpa, models.segmentation, models.embedding);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
