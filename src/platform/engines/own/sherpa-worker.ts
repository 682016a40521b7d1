import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../../../kernel/errors.ts';
import type { FromWorker, ToWorker } from '../recognise/worker-protocol.ts';
import { threadDataSchema } from './own-models.ts';
import { loadSherpa, openRecognizer } from './sherpa.ts';
import { SherpaSession } from './sherpa-session.ts';

// The thread of the user's recognition models: many sessions, one after another as their audio comes.
const { modelsFolder, models } = threadDataSchema.parse(workerData);
const sherpa = loadSherpa(modelsFolder);
const recognizers = new Map(models.recognition.map((files) => [files.language, openRecognizer(sherpa, files)]));
const sessions = new Map<number, SherpaSession>();

function send(message: FromWorker): void {
  parentPort!.postMessage(message, []);
}

function handle(message: ToWorker): void {
  const { stream } = message;
  switch (message.type) {
    case 'open': {
      const recognizer = recognizers.get(message.language);
      if (recognizer === undefined) throw new Error(`no model for ${message.language}`);
      sessions.set(stream, new SherpaSession(recognizer, message, (event) => send({ ...event, stream })));
      return;
    }
    case 'push':
      sessions.get(stream)?.push(message.pcm);
      return;
    case 'commit': {
      const session = sessions.get(stream);
      if (session !== undefined) send({ type: 'committed', stream, results: [session.commit()] });
      return;
    }
    case 'extend':
      // These models hear any words: nothing is learnt for them.
      return;
    case 'close':
      sessions.delete(stream);
      return;
  }
}

parentPort!.on('message', (message: ToWorker) => {
  try {
    handle(message);
  } catch (error) {
    sessions.delete(message.stream);
    send({ type: 'failed', stream: message.stream, reason: errorText(error) });
  }
});
send({ type: 'ready' });
