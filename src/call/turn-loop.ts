import type { Bot } from '../config/bots.ts';
import { initialTurn } from './turn.ts';
import type { TurnMachine } from './turn-machine.ts';
import type { TurnEffect, TurnEvent, TurnSettings, TurnState } from './turn-state.ts';

/** Runs the turn machine: has its effects carried out in order, and lets events that they give rise to wait their turn. */
export class TurnLoop {
  readonly settings: TurnSettings;
  readonly #machine: TurnMachine;
  readonly #carryOut: (effect: TurnEffect) => void;
  #state: TurnState = initialTurn();
  readonly #pending: TurnEvent[] = [];
  #stepping = false;
  #stopped = false;

  constructor(machine: TurnMachine, bot: Bot, carryOut: (effect: TurnEffect) => void) {
    this.#machine = machine;
    this.settings = machine.settingsOf(bot);
    this.#carryOut = carryOut;
  }

  get state(): TurnState {
    return this.#state;
  }

  feed(event: TurnEvent): void {
    this.#pending.push(event);
    if (this.#stepping) return;
    this.#stepping = true;
    try {
      for (let next = this.#pending.shift(); next !== undefined && !this.#stopped; next = this.#pending.shift()) {
        const { state, effects } = this.#machine.step(this.settings, this.#state, next);
        this.#state = state;
        for (const effect of effects) this.#carryOut(effect);
      }
    } finally {
      this.#stepping = false;
    }
  }

  /** The call is over: nothing is fed any more. */
  stop(): void {
    this.#stopped = true;
  }
}
