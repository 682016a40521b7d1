import { parentPort } from 'node:worker_threads';
import sre from 'speech-rule-engine';
import temml from 'temml';
import { errorText } from '../../../kernel/errors.ts';

// The thread that reads formulas: long ones take seconds, and a hostile one may never end.

/** `locale` is one that speech-rule-engine has. */
export interface ToLatexWorker {
  readonly id: number;
  readonly latex: readonly string[];
  readonly locale: string;
}

/** The words of each formula in order, or why one cannot be read. */
export type FromLatexWorker =
  | { readonly type: 'read'; readonly id: number; readonly words: readonly string[] }
  | {
      readonly type: 'unreadable';
      readonly id: number;
      /** For the client: where the formula is wrong. */
      readonly reason: string;
      /** The speech engine's own error, when the formula is valid. */
      readonly engineReason?: string;
    };

/** Macro expansions allowed: a short formula may define itself recursively. */
const MAX_EXPANSIONS = 500;

let spoken = '';
let queue = Promise.resolve();

async function answer({ id, latex, locale }: ToLatexWorker): Promise<FromLatexWorker> {
  if (spoken !== locale) {
    await sre.setupEngine({ locale, domain: 'clearspeak', modality: 'speech', markup: 'none' });
    await sre.engineReady();
    spoken = locale;
  }
  const words: string[] = [];
  for (const formula of latex) {
    try {
      words.push(sre.toSpeech(temml.renderToString(formula, { throwOnError: true, xml: true, maxExpand: MAX_EXPANSIONS })));
    } catch (error) {
      return { type: 'unreadable', id, ...reasons(error) };
    }
  }
  return { type: 'read', id, words };
}

function reasons(error: unknown): { reason: string; engineReason?: string } {
  // Told by its name, since the package's types lack the class.
  if (error instanceof Error && error.name === 'ParseError') return { reason: error.message };
  return { reason: 'it cannot be put in words', engineReason: errorText(error) };
}

parentPort?.on('message', (message: ToLatexWorker) => {
  queue = queue.then(async () => parentPort?.postMessage(await answer(message), []));
});
