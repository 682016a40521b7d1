import { parentPort } from 'node:worker_threads';
import sre from 'speech-rule-engine';
import temml from 'temml';
import { errorText } from '../../../kernel/errors.ts';
import { languageName } from '../../languages.ts';
import { hasMathematics, Mathematics, NoWordError } from './mathematics.ts';
import { mathTree, nativeReading } from './native-reading.ts';

// The thread that reads formulas: long ones take seconds, and a hostile one may never end.

/** `locale` is a language with words of mathematics of its own, or one that speech-rule-engine has. */
export interface ToLatexWorker {
  readonly id: number;
  readonly latex: readonly string[];
  readonly locale: string;
}

/** The words of each formula in order, or why one cannot be read. */
export type FromLatexWorker =
  | {
      readonly type: 'read';
      readonly id: number;
      readonly words: readonly string[];
      /** What the client should know about them. */
      readonly warnings: readonly string[];
    }
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
const native = new Map<string, Mathematics>();

async function answer({ id, latex, locale }: ToLatexWorker): Promise<FromLatexWorker> {
  const words: string[] = [];
  const warnings = new Set<string>();
  for (const formula of latex) {
    try {
      // The speech engine and the tables know ASCII digits.
      const digits = formula.replaceAll(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
      const mathMl = temml.renderToString(digits, { throwOnError: true, xml: true, maxExpand: MAX_EXPANSIONS });
      words.push(hasMathematics(locale) ? await readNatively(mathMl, locale, warnings) : await readByEngine(mathMl, locale));
    } catch (error) {
      return { type: 'unreadable', id, ...reasons(error) };
    }
  }
  return { type: 'read', id, words, warnings: [...warnings] };
}

/** In the language's own words, or in English where it lacks one. */
async function readNatively(mathMl: string, language: string, warnings: Set<string>): Promise<string> {
  const mathematics = native.get(language) ?? new Mathematics(language);
  native.set(language, mathematics);
  try {
    const read = nativeReading(mathTree(mathMl), mathematics);
    if (mathematics.takeUnreviewed()) {
      warnings.add(`latex: no speaker of ${languageName(language)} has reviewed the words that formulas are read with`);
    }
    return read;
  } catch (error) {
    if (!(error instanceof NoWordError)) throw error;
    mathematics.takeUnreviewed();
    const sign = error.sign.slice(0, 20);
    warnings.add(`latex: there is no word for ${sign} in ${languageName(language)}, so that a formula is read in English`);
    return readByEngine(mathMl, 'en');
  }
}

async function readByEngine(mathMl: string, locale: string): Promise<string> {
  if (spoken !== locale) {
    await sre.setupEngine({ locale, domain: 'clearspeak', modality: 'speech', markup: 'none' });
    await sre.engineReady();
    spoken = locale;
  }
  return sre.toSpeech(mathMl);
}

/** Decimal digits stand in runs of ten, in order. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}

function reasons(error: unknown): { reason: string; engineReason?: string } {
  // Identified by name, since the package's types lack the class.
  if (error instanceof Error && error.name === 'ParseError') return { reason: error.message };
  return { reason: 'it cannot be put in words', engineReason: errorText(error) };
}

parentPort?.on('message', (message: ToLatexWorker) => {
  queue = queue.then(async () => parentPort?.postMessage(await answer(message), []));
});
