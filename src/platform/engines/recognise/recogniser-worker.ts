import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { decodeModel } from './acoustic-model.ts';
import { addPhrases } from './add-phrases.ts';
import type { RecognitionModel } from './decode.ts';
import { FEATURES } from './features.ts';
import { readGrammar, compileNetwork } from './grammar.ts';
import { Session } from './session.ts';
import { serveSessions, type ToWorker, type VocabularyMessage, workerDataSchema } from './worker-protocol.ts';

// The thread of the built-in recogniser: all streams.
const shipped: readonly RecognitionModel[] = workerDataSchema
  .parse(workerData)
  .languages.map(({ language, vocabularyFile, modelFile }) => ({
    language,
    network: compileNetwork(readGrammar(readFileSync(vocabularyFile, 'utf8'))),
    model: decodeModel(readFileSync(modelFile), FEATURES),
  }));
let models = shipped;

parentPort?.on('message', (message: ToWorker | VocabularyMessage) => {
  if (message.type !== 'vocabulary') return;
  const learnt = message.models.map((model) => decodeModel(model, FEATURES));
  const taught = shipped
    .filter(({ language }) => language === message.language)
    .map((model) => (learnt.length === 0 ? model : addPhrases(model, learnt)));
  models = models.map((model) => taught.find(({ language }) => language === model.language) ?? model);
});

serveSessions(({ language, rateHz, boostPhrases, boostWeight }, { emit }) => {
  const chosen = (): readonly RecognitionModel[] =>
    language === 'auto' ? models : models.filter((model) => model.language === language);
  const session = new Session({ models: chosen, rateHz, boostPhrases, boostWeight }, emit);
  return {
    push: (pcm, isLate) => session.push(pcm, isLate),
    commit: () => session.commit(),
    tryCommit: () => session.tryCommit(),
    learning: (learning) => session.learning(learning),
    extend: (learnt, phrases) =>
      session.extend(
        learnt,
        phrases.map((model) => decodeModel(model, FEATURES)),
      ),
  };
});
