import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../../../kernel/errors.ts';
import { FEATURES } from './features.ts';
import { readGrammar } from './grammar.ts';
import { decodeModel } from './acoustic-model.ts';
import { compileNetwork } from './network.ts';
import { Session } from './session.ts';
import type { Ear } from './decode.ts';
import { type FromWorker, type ToWorker, workerDataSchema } from './worker-protocol.ts';

// The recogniser's thread: many sessions, one after another as their audio comes.
const ears: Ear[] = workerDataSchema.parse(workerData).languages.map(({ language, vocabularyFile, modelFile }) => ({
  language,
  network: compileNetwork(readGrammar(readFileSync(vocabularyFile, 'utf8'))),
  model: decodeModel(readFileSync(modelFile), FEATURES),
}));
const sessions = new Map<number, Session>();

function send(message: FromWorker): void {
  parentPort!.postMessage(message, []);
}

function handle(message: ToWorker): void {
  const { stream } = message;
  switch (message.type) {
    case 'open': {
      const chosen = message.language === 'auto' ? ears : ears.filter(({ language }) => language === message.language);
      const { rateHz, boostPhrases, boostWeight } = message;
      const session = new Session({ ears: chosen, rateHz, boostPhrases, boostWeight }, (event) => send({ ...event, stream }));
      sessions.set(stream, session);
      return;
    }
    case 'extend': {
      const phrases = message.models.map((model) => decodeModel(model, FEATURES));
      sessions.get(stream)?.extend(message.language, phrases);
      return;
    }
    case 'push':
      sessions.get(stream)?.push(message.pcm);
      return;
    case 'commit': {
      const session = sessions.get(stream);
      if (session !== undefined) send({ type: 'committed', stream, results: session.commit() });
      return;
    }
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
