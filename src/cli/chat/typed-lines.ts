import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Lines that somebody types, or that come from a file or a pipe. */
export interface TypedLines extends AsyncIterable<string> {
  /** Asks for the next line. @param hidden what is typed is not shown, and not kept for the arrow keys */
  ask(hidden: boolean): void;
  close(): void;
}

/** What readline shows of the keys that are typed. */
class Screen extends Writable {
  hidden = false;

  get columns(): number {
    return process.stdout.columns;
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    if (!this.hidden) process.stdout.write(chunk);
    done();
  }
}

/** Reads standard input; at a terminal with a prompt and editing. */
export function typedLines(isTerminal: boolean): TypedLines {
  if (!isTerminal) {
    const lines = createInterface({ input: process.stdin });
    return { ask: () => undefined, close: () => lines.close(), [Symbol.asyncIterator]: () => lines[Symbol.asyncIterator]() };
  }
  const screen = new Screen();
  const lines = createInterface({ input: process.stdin, output: screen, terminal: true });
  let isAsked = false;
  lines.on('SIGINT', () => lines.close());
  lines.on('close', () => {
    if (isAsked) process.stdout.write('\n');
  });
  lines.on('history', (history: string[]) => {
    if (screen.hidden) history.shift();
  });
  lines.on('line', () => {
    isAsked = false;
    if (screen.hidden) process.stdout.write('\n');
  });
  return {
    ask: (hidden) => {
      screen.hidden = false;
      lines.setPrompt(hidden ? 'keys (hidden) > ' : 'you     > ');
      lines.prompt();
      isAsked = true;
      screen.hidden = hidden;
    },
    close: () => {
      screen.hidden = false;
      lines.close();
    },
    [Symbol.asyncIterator]: () => lines[Symbol.asyncIterator](),
  };
}
