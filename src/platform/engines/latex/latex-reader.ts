import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { OffhookError } from '../../../kernel/errors.ts';
import { startWorker } from '../../../kernel/entry-file.ts';
import { espeakLanguage, spokenLanguage } from '../synth/spoken-language.ts';
import { inReadableScript } from '../synth/readable.ts';
import type { FromLatexWorker, ToLatexWorker } from './latex-worker.ts';
import { hasMathematics } from './mathematics.ts';

/** A formula that cannot be read or takes too long; the message says where it is wrong. */
export class LatexError extends OffhookError {
  readonly code = 'OFFHOOK_LATEX_UNREADABLE';
  readonly retryable = false;
}

/** Ten thousand characters of plain formula take three seconds. */
const DEADLINE_MS = 20_000;
const MAX_PENDING = 64;
const MAX_REASON = 160;

/** The languages of speech-rule-engine that have no table here. */
const locales = new Set(['en', 'af', 'ca', 'da', 'de', 'es', 'fr', 'it', 'ko', 'nb', 'nn', 'sv']);
/** Languages whose words are in the Arabic script: beside text in Devanagari, Hindi words are read. */
const inArabicScript = new Set(['ks', 'sd']);

/** English synthesizers read a single "a" as the article; this spelling makes them say the letter. */
const LETTER_A = /\ba\b/gi;
const LETTER_A_SPOKEN = 'eigh';

type Read = Pick<Extract<FromLatexWorker, { type: 'read' }>, 'words' | 'warnings'>;

interface Pending {
  resolve(read: Read): void;
  reject(error: LatexError): void;
  readonly deadline: Timer;
}

/** The language to read formulas in: that of the text around them, or English where it has no words for formulas. */
export function formulaLocale(plainText: string, asked: string | undefined, home: string): string {
  const text = inReadableScript(plainText);
  const language = spokenLanguage(text, asked, home);
  const [voice = ''] = espeakLanguage(text, asked, home).split('-');
  if (hasMathematics(language) && !(voice === 'hi' && inArabicScript.has(language))) return language;
  return locales.has(voice) || hasMathematics(voice) ? voice : 'en';
}

/** Replaces the formulas in a text with words, in a thread started for the first one. */
export class LatexReader {
  readonly #clock: Clock;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #nextId = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param asked language code of the request
   * @param home  language of the voice
   * @returns the text with words in place of formulas, and what the client should know about them
   * @throws LatexError
   */
  async read(
    text: string,
    asked: string | undefined,
    home: string,
  ): Promise<{ readonly text: string; readonly warnings: readonly string[] }> {
    const parts = formulaParts(text);
    const latex = parts.flatMap((part) => (part.type === 'formula' ? [part.latex] : []));
    const plain = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
    const locale = formulaLocale(plain, asked, home);
    const { words, warnings } = latex.length === 0 ? { words: [], warnings: [] } : await this.#words(latex, locale);
    const sounded = locale === 'en' ? words.map((each) => each.replaceAll(LETTER_A, LETTER_A_SPOKEN)) : words;
    let next = 0;
    const spoken = parts.map((part) => (part.type === 'text' ? part.text : ` ${sounded[next++] ?? ''} `)).join('');
    return { text: spoken, warnings };
  }

  #words(latex: readonly string[], locale: string): Promise<Read> {
    if (this.#pending.size >= MAX_PENDING) return Promise.reject(new LatexError('too many formulas are being read'));
    const worker = (this.#worker ??= this.#start());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const deadline = this.#clock.after(DEADLINE_MS, () => void this.#end(`it took longer than ${DEADLINE_MS / 1000} s`));
      this.#pending.set(id, { resolve, reject, deadline });
      worker.postMessage({ id, latex, locale } satisfies ToLatexWorker, []);
    });
  }

  #start(): Worker {
    const worker = startWorker(import.meta.url, 'latex-worker', {});
    worker.on('message', (answer: FromLatexWorker) => {
      const pending = this.#pending.get(answer.id);
      this.#pending.delete(answer.id);
      pending?.deadline.cancel();
      if (answer.type === 'read') pending?.resolve(answer);
      else {
        const cause = answer.engineReason === undefined ? undefined : new Error(answer.engineReason);
        pending?.reject(new LatexError(`the formula cannot be read: ${plainReason(answer.reason)}`, { cause }));
      }
    });
    worker.on('error', () => void this.#end('its thread failed'));
    return worker;
  }

  /** Fails all waiting formulas: those behind one that never ends too. */
  async #end(reason: string): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const pending of this.#pending.values()) {
      pending.deadline.cancel();
      pending.reject(new LatexError(`the formula cannot be read: ${reason}`));
    }
    this.#pending.clear();
    await worker?.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('the platform is stopping');
  }
}

/** One line, without underlining by combining marks. */
function plainReason(reason: string): string {
  return reason.replaceAll('\u0332', '').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON);
}

/** Plain text, or a formula without its delimiters. */
export type TextPart = { readonly type: 'text'; readonly text: string } | { readonly type: 'formula'; readonly latex: string };

/**
 * `$$…$$`, `\[…\]`, `\(…\)`, or `$…$` whose dollars touch the formula, with no digit after the last ("from $5 to $6" is money).
 * `\$` is a plain dollar.
 */
const DELIMITED =
  /\\\$|\$\$(?<display>[^$]+)\$\$|\\\[(?<bracket>.+?)\\\]|\\\((?<paren>.+?)\\\)|\$(?<inline>(?:[^\s$\\]|\\.)(?:(?:[^$\\]|\\.)*(?:[^\s$\\]|\\.))?)\$(?!\d)/gsu;

const COMMAND = /\\[a-z]+/i;
/** A sub- or superscript of something. */
const SCRIPT = /[\p{L}\p{N})}\]][\^_][\p{L}\p{N}{\\(+-]/u;
const WORD = /\p{L}{3}/u;

/** `x^2` and `\frac{a}{b}` need no delimiters; `file_name` is no formula. */
function isBareLatex(text: string): boolean {
  return COMMAND.test(text) || (SCRIPT.test(text) && !WORD.test(text));
}

/**
 * Splits a text into plain text and formulas. A text in LaTeX without delimiters is one formula.
 */
export function formulaParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let plain = '';
  let at = 0;
  const flush = (): void => {
    if (plain !== '') parts.push({ type: 'text', text: plain });
    plain = '';
  };
  for (const match of text.matchAll(DELIMITED)) {
    plain += text.slice(at, match.index);
    at = match.index + match[0].length;
    const { display, bracket, paren, inline } = match.groups ?? {};
    const latex = display ?? bracket ?? paren ?? inline;
    if (latex === undefined) {
      plain += '$';
      continue;
    }
    flush();
    parts.push({ type: 'formula', latex: latex.trim() });
  }
  plain += text.slice(at);
  flush();
  const bare = parts.every(({ type }) => type === 'text') && isBareLatex(text);
  return bare ? [{ type: 'formula', latex: text.trim() }] : parts;
}
