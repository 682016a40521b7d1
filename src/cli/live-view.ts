import type { CallNews } from '../call/log/call-news.ts';
import { coloured, printLine } from './shell/output.ts';

/** Prints a call live: the bot's words, the recognised words, interruptions, and reply times. */
export class LiveView {
  readonly #print: (line: string) => void;
  #ended = false;

  constructor(print: (line: string) => void = printLine) {
    this.#print = print;
  }

  /** Whether the call's end was seen. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Prints an act of the simulated caller. */
  caller(text: string): void {
    this.#print(`${coloured('cyan', 'caller ')} ${text}`);
  }

  show(news: CallNews): void {
    switch (news.type) {
      case 'started':
        this.#print(coloured('dim', `— the bot "${news.botName}" answers —`));
        return;
      case 'turn':
        if (news.kind === 'spoken')
          this.#print(`${coloured('yellow', 'heard  ')} ${news.callerText === '' ? '(not understood)' : news.callerText}`);
        if (news.kind === 'keyed') this.#print(`${coloured('yellow', 'keys   ')} ${news.callerText}`);
        if (news.kind === 'no-input') this.#print(coloured('yellow', 'silence'));
        return;
      case 'reply':
        if (news.totalMs !== undefined) this.#print(coloured('dim', `        reply after ${Math.round(news.totalMs)} ms`));
        return;
      case 'saying':
        if (news.text !== '') this.#print(`${coloured('green', 'bot    ')} ${news.text}`);
        return;
      case 'heard':
        if (news.text === news.heard) return;
        this.#print(
          coloured('dim', news.heard === '' ? '        nothing of it was heard' : `        heard of it: ${news.heard}`),
        );
        return;
      case 'floor':
        this.#print(coloured('dim', `        ${floorText(news.what)}`));
        return;
      case 'answered-by':
        this.#print(coloured('dim', `        answered by: ${news.by} (${Math.round(100 * news.confidence)} %)`));
        return;
      case 'digit':
        this.#print(`${coloured('cyan', 'key    ')} ${news.digit}`);
        return;
      case 'ended':
        this.#ended = true;
        this.#print(coloured('dim', `— the call is over: ${news.reason} —`));
        return;
      case 'partial':
      case 'state':
      case 'ordered':
        return;
    }
  }
}

function floorText(what: 'hold' | 'resume' | 'clear' | 'restore'): string {
  switch (what) {
    case 'hold':
      return 'a sound over the bot: hold';
    case 'resume':
      return 'it was nothing: the bot speaks on';
    case 'clear':
      return 'the caller talks over the bot: it stops';
    case 'restore':
      return 'the interruption was nothing: the bot speaks on';
  }
}
