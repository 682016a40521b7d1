import { parentPort } from 'node:worker_threads';
import sre from 'speech-rule-engine';
import temml from 'temml';
import { errorText } from '../../../kernel/errors.ts';

// The thread that reads formulas: long ones take seconds, and a hostile one may take for ever.

/** `locale` is one that speech-rule-engine has. */
export interface ToLatexWorker {
  readonly id: number;
  readonly latex: readonly string[];
  readonly locale: string;
}

/** Words for each formula in order, or why one of them cannot be read. */
export type FromLatexWorker =
  | { readonly type: 'read'; readonly id: number; readonly words: readonly string[] }
  | {
      readonly type: 'unreadable';
      readonly id: number;
      /** For the client: where the formula goes wrong. */
      readonly reason: string;
      /** What the speech engine threw, where the formula itself is sound. */
      readonly engineReason?: string;
    };

/** Macros unfolded at most: a few letters may define themselves again and again. */
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
  // By its name: the package's types leave the class out.
  if (error instanceof Error && error.name === 'ParseError') return { reason: error.message };
  return { reason: 'it cannot be put in words', engineReason: errorText(error) };
}

parentPort!.on('message', (message: ToLatexWorker) => {
  queue = queue.then(async () => parentPort!.postMessage(await answer(message), []));
});
