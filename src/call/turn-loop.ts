import type { Bot } from '../config/bots.ts';
import { initialTurn } from './turn.ts';
import type { TurnMachine } from './turn-machine.ts';
import type { TurnEffect, TurnEvent, TurnSettings, TurnState } from './turn-state.ts';

/** A line on which nothing came for so long is late, … */
const LATE_AFTER_MS = 60;
/** … and no longer than this: some carriers send nothing of silence. */
const LATE_UNTIL_MS = 500;

/**
 * Runs the turn machine: has its effects carried out in order, and lets events that they give rise to wait their turn. While the
 * caller's line is late, time alone tells nothing: after a stall of the network, or of this process, a tick comes before the
 * frames that have waited, and would take what nobody has heard yet for silence.
 */
export class TurnLoop {
  readonly settings: TurnSettings;
  readonly #machine: TurnMachine;
  readonly #carryOut: (effect: TurnEffect) => void;
  #state: TurnState = initialTurn();
  readonly #pending: TurnEvent[] = [];
  #stepping = false;
  #stopped = false;
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(machine: TurnMachine, bot: Bot, carryOut: (effect: TurnEffect) => void) {
    this.#machine = machine;
    this.settings = machine.settingsOf(bot);
    this.#carryOut = carryOut;
  }

  get state(): TurnState {
    return this.#state;
  }

  feed(event: TurnEvent): void {
    if (event.type === 'frame') this.#heardMs = event.frame.atMs;
    if (event.type === 'tick' && this.#isLate(event.atMs)) return;
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

  #isLate(nowMs: number): boolean {
    const sinceMs = nowMs - this.#heardMs;
    return sinceMs > LATE_AFTER_MS && sinceMs < LATE_UNTIL_MS;
  }

  /** The call is over: nothing is fed any more. */
  stop(): void {
    this.#stopped = true;
  }
}
