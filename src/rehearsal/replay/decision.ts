import { z } from 'zod';
import type { CallServices } from '../../call/services.ts';
import type { TurnMachine } from '../../call/turn/turn.ts';
import { isDecision } from '../../call/turn/decision.ts';
import type { TurnEffect } from '../../call/turn/turn-state.ts';
import { dated, timeOf } from '../../call/turn/voice.ts';
import type { DialogTurn, TurnInput } from '../../dialog/port.ts';

/** One decision of a call: an effect of the turn machine, a spoken sentence, or a request to dialog or carrier. */
export const decisionSchema = z.object({
  /** Since the call's first moment. */
  atMs: z.number(),
  /** The turn it belongs to: 0 is the greeting, −1 before it. */
  turn: z.int(),
  type: z.string(),
  /** The rest as text; decisions are equal when type, detail and time are. */
  detail: z.string(),
});

export type Decision = z.infer<typeof decisionSchema>;

/** Logs a call's decisions, in recordings and replays alike. */
export class DecisionLog {
  readonly decisions: Decision[] = [];
  readonly #nowMs: () => number;
  #turn = -1;
  /** When the call stopped ticking; later entries are not decisions. */
  #stoppedMs: number | undefined;

  /** @param nowMs since the call's first moment */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  note(type: string, detail: string, turn = this.#turn): void {
    this.decisions.push({ atMs: this.#nowMs(), turn, type, detail });
  }

  /** @param reason end reason; timed at the last tick */
  end(reason: string): void {
    this.decisions.push({ atMs: this.#stoppedMs ?? this.#nowMs(), turn: this.#turn, type: 'end', detail: reason });
  }

  watchTicker(ticker: CallServices['ticker']): CallServices['ticker'] {
    return {
      add: (listener) => {
        const stop = ticker.add(listener);
        return () => {
          this.#stoppedMs ??= this.#nowMs();
          stop();
        };
      },
    };
  }

  /** The same machine, with its effects logged. */
  watchMachine(machine: TurnMachine): TurnMachine {
    return {
      settingsOf: (bot) => machine.settingsOf(bot),
      step: (settings, state, event) => {
        const step = machine.step(settings, state, event);
        const atMs = timeOf(dated(state.line, event));
        for (const effect of step.effects) if (isDecision(effect)) this.#effect(effect, atMs);
        return step;
      },
    };
  }

  /** The same listener, with the start of each reply logged. */
  watchNews(news: CallServices['news']): CallServices['news'] {
    return (item) => {
      if (item.type === 'reply') this.note('reply', `turn ${item.turn}`);
      news(item);
    };
  }

  #effect(effect: TurnEffect, eventMs: number | undefined): void {
    if (effect.type === 'ask' || effect.type === 'keep-turn') this.#turn += 1;
    // The caller's words begin the next turn.
    const isNext = effect.type === 'commit' || effect.type === 'ask-early';
    this.note(effect.type, detailOf(effect, eventMs), isNext ? this.#turn + 1 : this.#turn);
    if (effect.type === 'cancel-reply' && effect.takesBack) this.#turn -= 1;
  }
}

/** An effect's fields without its type; times are relative to the causing event. */
function detailOf({ type: _type, ...fields }: TurnEffect, eventMs: number | undefined): string {
  return Object.entries(fields)
    .filter(([name, value]) => name !== 'atMs' && value !== undefined)
    .map(([name, value]) => {
      if (typeof value === 'number' && name.endsWith('Ms')) return `${name} −${(eventMs ?? value) - value}`;
      return `${name} ${JSON.stringify(value)}`;
    })
    .join(', ');
}

/** The dialog's input as text, by which a fixture finds the answer again. */
export function inputText(input: TurnInput): string {
  switch (input.kind) {
    case 'start':
      return 'start';
    case 'spoken':
      return `spoken ${JSON.stringify(input.text)}`;
    case 'keyed':
      return `keyed ${JSON.stringify(input.digits)}`;
    case 'no-input':
      return `no-input ${input.attempt}`;
    case 'tool-result':
      return `tool-result ${input.tool}`;
    case 'transfer':
      return `transfer ${input.outcome}`;
  }
}

/** Formats a question to the dialog among the decisions, with the heard part of the last reply. */
export function askedText({ index, early, input, history }: DialogTurn): string {
  const last = history.at(-1);
  const heard = last?.role === 'bot' ? `, heard ${JSON.stringify(last.text)}` : '';
  return `turn ${index}${early === true ? ' early' : ''}, ${inputText(input)}${heard}`;
}
