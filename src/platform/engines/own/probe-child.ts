// Opens every model once and ends. The library ends its whole process when a file is no model: better this one than the
// platform's.
import { loadSherpa, openRecognizer } from './sherpa.ts';
import { threadDataSchema } from './thread-data.ts';

try {
  const { modelsFolder, models } = threadDataSchema.parse(JSON.parse(process.argv[2] ?? ''));
  const sherpa = loadSherpa(modelsFolder);
  for (const files of models) openRecognizer(sherpa, files);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
