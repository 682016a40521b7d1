import { z } from 'zod';
import { parseJson } from '../../../kernel/json.ts';
import { sentences } from '../../engines/synth/speak-sentences.ts';
import { Refusal } from '../listener/refusal.ts';
import { maxTextCharacters } from './speech-request.ts';

export interface TextStreamOptions {
  /**
   * Speaks a piece of text and sends its audio.
   * @throws Refusal for text that is refused, the signal's reason when it aborts
   */
  readonly speak: (text: string, signal: AbortSignal) => Promise<void>;
  readonly send: (event: { readonly type: 'done' | 'cancelled' }) => void;
  /** Called after the audio of everything before `end` was sent. */
  readonly close: () => void;
  readonly fail: (error: unknown) => void;
}

const messageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('flush') }),
  z.object({ type: z.literal('cancel') }),
  z.object({ type: z.literal('end') }),
]);

/** Sentences and flushes that may wait. */
const maxWaiting = 64;

/**
 * The vendor's newer synthesis protocol after `ready` (reference, 1.2, generation 2), without the socket. Text comes in pieces, and each
 * sentence is spoken when it is complete. `flush` speaks the rest and is answered with `done`. `cancel` drops everything waiting and being
 * spoken, and is answered with `cancelled`. `end` flushes and closes the socket.
 */
export class TextStream {
  readonly #options: TextStreamOptions;
  #pending = '';
  #waiting = 0;
  #ended = false;
  #turn = new AbortController();
  #line: Promise<void> = Promise.resolve();

  constructor(options: TextStreamOptions) {
    this.#options = options;
  }

  /** Whether something is being spoken or waits. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** @throws Refusal 400 for a message of another kind */
  receive(text: string): void {
    // The socket closes after `end`.
    if (this.#ended) return;
    const message = readMessage(text);
    switch (message.type) {
      case 'text':
        this.#add(message.text);
        return;
      case 'flush':
        this.#flush();
        return;
      case 'cancel':
        this.#cancel();
        return;
      case 'end':
        this.#ended = true;
        this.#flush();
        this.#then(async () => this.#options.close());
        return;
    }
  }

  /** Drops everything; nothing is sent from here on. */
  dispose(reason: unknown): void {
    this.#ended = true;
    this.#turn.abort(reason);
  }

  #add(text: string): void {
    this.#pending += text;
    if (this.#pending.length > maxTextCharacters) {
      throw new Refusal(400, `text: at most ${maxTextCharacters} characters may wait for a flush`);
    }
    // A letter appended shows whether the last sentence is complete, and keeps the white space after it.
    const begun = (sentences(`${this.#pending}x`).at(-1) ?? 'x').slice(0, -1);
    this.#speak(this.#pending.slice(0, this.#pending.length - begun.length));
    this.#pending = begun;
  }

  #flush(): void {
    this.#speak(this.#pending);
    this.#pending = '';
    this.#then(async () => this.#options.send({ type: 'done' }));
  }

  #cancel(): void {
    this.#pending = '';
    this.#turn.abort(new Error('the client cancelled'));
    this.#turn = new AbortController();
    this.#options.send({ type: 'cancelled' });
  }

  #speak(text: string): void {
    if (text.trim() === '') return;
    const { signal } = this.#turn;
    this.#then(() => this.#options.speak(text, signal));
  }

  /** Runs a task after all earlier ones, unless it was cancelled. */
  #then(task: () => Promise<void>): void {
    if (this.#waiting >= maxWaiting) throw new Refusal(429, `More than ${maxWaiting} sentences are waiting on this socket`);
    const { signal } = this.#turn;
    this.#waiting += 1;
    this.#line = this.#line
      .then(async () => {
        if (!signal.aborted) await task();
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.fail(error);
      })
      .finally(() => {
        this.#waiting -= 1;
      });
  }
}

function readMessage(text: string): z.infer<typeof messageSchema> {
  if (text.trim().toLowerCase() === 'end') return { type: 'end' };
  const message = messageSchema.safeParse(parseJson(text));
  if (!message.success) throw new Refusal(400, 'After ready, messages are end, or JSON of type text, flush or cancel');
  return message.data;
}
