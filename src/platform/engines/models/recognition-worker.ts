import { workerData } from 'node:worker_threads';
import { serveSessions } from '../recognise/worker-protocol.ts';
import { threadDataSchema } from './open-models.ts';
import { loadSherpa, openRecognizer } from './sherpa.ts';
import { StreamingSession } from './streaming-session.ts';

// The thread of the user's recognition models. It learns no phrases: these models recognise any word.
const { modelsFolder, models } = threadDataSchema.parse(workerData);
const sherpa = loadSherpa(modelsFolder);
const recognizers = new Map(
  models.recognition.flatMap(({ model, languages }) => {
    const recognizer = openRecognizer(sherpa, model);
    return languages.map((language) => [language, recognizer] as const);
  }),
);

serveSessions((stream, emit) => {
  const recognizer = recognizers.get(stream.language);
  if (recognizer === undefined) throw new Error(`no model for ${stream.language}`);
  const session = new StreamingSession(recognizer, stream, emit);
  return { push: (pcm) => session.push(pcm), commit: () => [session.commit()] };
});
