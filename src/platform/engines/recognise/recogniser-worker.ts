import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { decodeModel } from './acoustic-model.ts';
import type { RecognitionModel } from './decode.ts';
import { FEATURES } from './features.ts';
import { readGrammar } from './grammar.ts';
import { compileNetwork } from './network.ts';
import { Session } from './session.ts';
import { serveSessions, workerDataSchema } from './worker-protocol.ts';

// The thread of the built-in recogniser: all streams.
const models: RecognitionModel[] = workerDataSchema
  .parse(workerData)
  .languages.map(({ language, vocabularyFile, modelFile }) => ({
    language,
    network: compileNetwork(readGrammar(readFileSync(vocabularyFile, 'utf8'))),
    model: decodeModel(readFileSync(modelFile), FEATURES),
  }));

serveSessions(({ language, rateHz, boostPhrases, boostWeight }, { emit }) => {
  const chosen = language === 'auto' ? models : models.filter((model) => model.language === language);
  const session = new Session({ models: chosen, rateHz, boostPhrases, boostWeight }, emit);
  return {
    push: (pcm) => session.push(pcm),
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
