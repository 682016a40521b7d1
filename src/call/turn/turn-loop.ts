import { initialTurn } from './turn.ts';
import type { TurnMachine } from './turn-machine.ts';
import { type BotTurnTaking, LATE_AFTER_MS, LATE_UNTIL_MS } from './turn-settings.ts';
import type { TurnEffect, TurnEvent, TurnSettings, TurnState } from './turn-state.ts';

/**
 * Runs the turn machine: has its effects carried out in order, and lets events that they give rise to wait their turn. While the
 * caller's line is late, time alone tells nothing: after a stall of the network, or of this process, a tick comes before the
 * frames that have waited, and would take what nobody has heard yet for silence. Those frames are dated back, to when they were
 * said, but never to before something that was decided meanwhile.
 */
export class TurnLoop {
  readonly settings: TurnSettings;
  readonly #machine: TurnMachine;
  readonly #carryOut: (effect: TurnEffect) => void;
  #state: TurnState = initialTurn();
  readonly #pending: TurnEvent[] = [];
  #stepping = false;
  #stopped = false;
  /** When the last frame was said, and when it came. */
  #heardMs = Number.NEGATIVE_INFINITY;
  #cameMs = Number.NEGATIVE_INFINITY;
  /** When something was decided last. */
  #decidedMs = Number.NEGATIVE_INFINITY;

  constructor(machine: TurnMachine, bot: BotTurnTaking, carryOut: (effect: TurnEffect) => void) {
    this.#machine = machine;
    this.settings = machine.settingsOf(bot);
    this.#carryOut = carryOut;
  }

  get state(): TurnState {
    return this.#state;
  }

  feed(event: TurnEvent): void {
    if (event.type === 'frame') {
      this.#heardMs = event.frame.atMs;
      this.#cameMs = event.frame.cameMs ?? event.frame.atMs;
    }
    if (event.type === 'tick' && this.#isLate(event.atMs)) return;
    if (this.#stepping) {
      this.#pending.push(event);
      return;
    }
    this.#stepping = true;
    try {
      for (let next: TurnEvent | undefined = event; next !== undefined && !this.#stopped; next = this.#pending.shift()) {
        const { state, effects } = this.#machine.step(this.settings, this.#state, this.#afterDecided(next));
        this.#state = state;
        if (effects.length > 0) this.#decidedMs = Math.max(this.#decidedMs, timeOf(next) ?? this.#decidedMs);
        for (const effect of effects) this.#carryOut(effect);
      }
    } finally {
      this.#stepping = false;
    }
  }

  #isLate(nowMs: number): boolean {
    return nowMs - this.#heardMs > LATE_AFTER_MS && nowMs - this.#cameMs < LATE_UNTIL_MS;
  }

  #afterDecided(event: TurnEvent): TurnEvent {
    if (event.type !== 'frame' || event.frame.atMs >= this.#decidedMs) return event;
    return { type: 'frame', frame: { ...event.frame, atMs: this.#decidedMs } };
  }

  /** The call is over: nothing is fed any more. */
  stop(): void {
    this.#stopped = true;
  }
}

function timeOf(event: TurnEvent): number | undefined {
  if (event.type === 'frame') return event.frame.atMs;
  return 'atMs' in event ? event.atMs : undefined;
}
