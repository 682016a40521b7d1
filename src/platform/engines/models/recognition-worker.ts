import { setImmediate } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../../../kernel/clock.ts';
import { serveSessions } from '../recognise/worker-protocol.ts';
import { RecognitionThread } from './recognition-thread.ts';
import { threadDataSchema } from './open-models.ts';
import { openRecogniser } from './open-recogniser.ts';
import { loadSherpa } from './sherpa.ts';

// A thread with a copy of each recognition model. It learns no phrases: these models recognise any word.
const { modelsFolder, models } = threadDataSchema.parse(workerData);
const sherpa = loadSherpa(modelsFolder);
const opened = models.recognition.map(({ model, languages }) => ({
  languages,
  model: openRecogniser(sherpa, model, languages, systemClock),
}));
let working = false;
const thread = new RecognitionThread(opened, systemClock, () => void work());
serveSessions((stream, outputs) => thread.open(stream, outputs));

/** Messages are taken between the turns: new audio and commits take part in the next one. */
async function work(): Promise<void> {
  if (working) return;
  working = true;
  do await setImmediate();
  while (thread.turn());
  working = false;
}
