import type { TurnSettings } from './turn-settings.ts';
import { initialTurn, type TurnEffect, type TurnEvent, type TurnState } from './turn-state.ts';
import type { TurnMachine } from './turn.ts';

/** Runs the turn machine: has its effects carried out in order, and lets events that they give rise to wait their turn. */
export class TurnLoop {
  readonly settings: TurnSettings;
  readonly #machine: TurnMachine;
  readonly #carryOut: (effect: TurnEffect) => void;
  #state: TurnState = initialTurn();
  readonly #pending: TurnEvent[] = [];
  #stepping = false;
  #stopped = false;

  constructor(machine: TurnMachine, settings: TurnSettings, carryOut: (effect: TurnEffect) => void) {
    this.#machine = machine;
    this.settings = settings;
    this.#carryOut = carryOut;
  }

  get state(): TurnState {
    return this.#state;
  }

  feed(event: TurnEvent): void {
    if (this.#stepping) {
      this.#pending.push(event);
      return;
    }
    this.#stepping = true;
    try {
      for (let next: TurnEvent | undefined = event; next !== undefined && !this.#stopped; next = this.#pending.shift()) {
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
