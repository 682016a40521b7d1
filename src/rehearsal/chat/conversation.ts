import type { CallerAct } from './caller-act.ts';
import type { ChatEvent } from './chat-event.ts';
import { check, type Expectation } from './expectation.ts';
import type { ChatScript } from './script.ts';
import type { TextCall } from './text-call.ts';

export interface UnmetExpectation {
  /** Line of the script, from 1; undefined for one of the command line. */
  readonly line: number | undefined;
  readonly expected: string;
  readonly got: string;
}

/** One conversation as it goes: what has happened, and whether that was expected. */
export class Conversation {
  readonly unmet: UnmetExpectation[] = [];
  readonly #show: (event: ChatEvent) => void;
  #events: ChatEvent[] = [];
  /** Index of the first event after the caller's last act. */
  #from = 0;
  #slots: Readonly<Record<string, string>> = {};
  #call: TextCall | undefined;
  #endTold = false;

  /** @param show called with each event */
  constructor(show: (event: ChatEvent) => void) {
    this.#show = show;
  }

  /** The call's `onEvent` callback. */
  readonly take = (event: ChatEvent): void => {
    this.#events.push(event);
    if (event.type === 'action' && event.action.type === 'set') {
      const slots = Object.entries({ ...this.#slots, ...event.action.variables }).filter(([, value]) => value !== '');
      this.#slots = Object.fromEntries(slots);
    }
    this.#show(event);
  };

  /** Current slots and variables; none is empty. */
  get slots(): Readonly<Record<string, string>> {
    return this.#slots;
  }

  get isOver(): boolean {
    return this.#endTold;
  }

  get expectsSecret(): boolean {
    return this.#call?.expectsSecret === true;
  }

  get failures(): readonly string[] {
    return this.#events.flatMap((event) => (event.type === 'failure' ? [event.message] : []));
  }

  async open(call: TextCall): Promise<void> {
    this.#call = call;
    this.#slots = call.parameters;
    await call.open();
    this.#end();
  }

  /** Performs an act of the caller. */
  async act(act: CallerAct): Promise<void> {
    const call = this.#call;
    if (call === undefined || this.#endTold) return;
    this.#from = this.#events.length;
    switch (act.kind) {
      case 'say':
        await call.say(act.text);
        break;
      case 'press':
        await call.press(act.keys);
        break;
      case 'silence':
        await call.silence();
        break;
      case 'interrupt':
        if (await call.interrupt(act.by)) break;
        this.take({ type: 'warning', message: 'the bot is not speaking: there is nothing to interrupt' });
        await ('keys' in act.by ? call.press(act.by.keys) : call.say(act.by.text));
        break;
      case 'hang-up':
        await call.hangUp();
        break;
      case 'show':
        return;
    }
    this.#end();
  }

  /** Compares an expectation with the events since the caller's last act. */
  expect(expectation: Expectation, line: number | undefined, whole = false): void {
    const events = whole ? this.#events : this.#events.slice(this.#from);
    const unmet = check(expectation, { events, slots: this.#slots });
    if (unmet !== undefined) this.unmet.push({ line, ...unmet });
  }

  /** Plays a script in an open call; stops at the caller's next act after an unmet expectation. */
  async play({ steps }: ChatScript): Promise<void> {
    this.#expectAnswer(steps, undefined);
    for (const [index, step] of steps.entries()) {
      if ('expectation' in step) {
        this.expect(step.expectation, step.line);
        continue;
      }
      if (this.unmet.length > 0) return;
      if (this.#endTold) {
        this.unmet.push({ line: step.line, expected: 'the call to go on', got: `it had ended: ${this.endReason}` });
        return;
      }
      await this.act(step.act);
      this.#expectAnswer(steps.slice(index + 1), step.line);
    }
  }

  /** A failed bot meets no expectation, unless a following one expects the failure. */
  #expectAnswer(following: ChatScript['steps'], line: number | undefined): void {
    const failed = this.#events.slice(this.#from).find((event) => event.type === 'failure');
    if (failed === undefined) return;
    const next = following.findIndex((step) => 'act' in step);
    const here = following.slice(0, next < 0 ? undefined : next);
    if (here.some((step) => 'expectation' in step && isOfFailure(step.expectation))) return;
    this.unmet.push({ line, expected: 'an answer of the bot', got: `it failed: ${failed.message}` });
  }

  /** Why the call ended; empty while it goes on. */
  get endReason(): string {
    return this.#call?.record?.endReason ?? '';
  }

  #end(): void {
    const record = this.#call?.record;
    if (record === undefined || this.#endTold) return;
    this.#endTold = true;
    this.take({ type: 'end', reason: record.endReason, variables: record.variables, notes: record.notes });
  }
}

/** Whether the expectation is a failed answer. */
export function isOfFailure(expectation: Expectation): boolean {
  return expectation.kind === 'fact' && expectation.fact === 'fails';
}
