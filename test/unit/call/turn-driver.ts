import { ANSWER_READER } from '../../../src/call/control/answer-reader.ts';
import { DEFAULT_TURN_SETTINGS } from '../../../src/call/turn/turn-settings.ts';
import { initialTurn } from '../../../src/call/turn/turn-state.ts';
import { stepTurn } from '../../../src/call/turn/turn.ts';
import type { TurnEffect, TurnEvent, TurnState } from '../../../src/call/turn/turn-state.ts';
import type { TurnSettings } from '../../../src/call/turn/turn-settings.ts';

/** Drives the turn machine on a time of its own, 20 ms frames at a time, and keeps what it did. */
export class TurnDriver {
  state: TurnState = initialTurn();
  nowMs = 1_000;
  readonly effects: TurnEffect[] = [];
  readonly settings: TurnSettings;

  constructor(settings: Partial<TurnSettings> = {}) {
    this.settings = { ...DEFAULT_TURN_SETTINGS, reader: ANSWER_READER, ...settings };
  }

  feed(event: TurnEvent): this {
    const { state, effects } = stepTurn(this.settings, this.state, event);
    this.state = state;
    this.effects.push(...effects);
    return this;
  }

  /** The call has started and the greeting has been played. */
  greeted(): this {
    this.feed({ type: 'call-started', atMs: this.nowMs });
    this.feed({ type: 'bot-started', atMs: this.nowMs, policy: 'always' });
    this.feed({ type: 'bot-finished', atMs: this.nowMs });
    return this.forget();
  }

  /** The bot is speaking its reply. */
  speaking(policy: 'always' | 'keypad' | 'never' = 'always'): this {
    this.feed({ type: 'call-started', atMs: this.nowMs });
    this.feed({ type: 'bot-started', atMs: this.nowMs, policy });
    return this.forget();
  }

  voice(ms: number): this {
    return this.#frames(ms, true, 1);
  }

  /** Loud without pitch: a cough, a knock, a rustle. */
  noise(ms: number): this {
    return this.#frames(ms, true, 0);
  }

  quiet(ms: number): this {
    return this.#frames(ms, false, 0);
  }

  /** Quiet that comes all at once, at its end: the line has stalled. */
  lateQuiet(ms: number): this {
    return this.#frames(ms, false, 0, this.nowMs + ms);
  }

  partial(seg: number, text: string): this {
    return this.feed({ type: 'partial', atMs: this.nowMs, seg, text });
  }

  final(seg: number, text: string, mark: boolean | 'unmarked' = true): this {
    const endOfUtterance = mark === 'unmarked' ? undefined : mark;
    return this.feed({ type: 'final', atMs: this.nowMs, seg, text, endOfUtterance });
  }

  digit(digit: string): this {
    return this.feed({ type: 'digit', atMs: this.nowMs, digit });
  }

  forget(): this {
    this.effects.length = 0;
    return this;
  }

  get kinds(): readonly string[] {
    return this.effects.map(({ type }) => type);
  }

  /** The inputs the dialog was asked with, in order, as short text. */
  get asked(): readonly string[] {
    return this.effects.flatMap((effect) => {
      if (effect.type !== 'ask' && effect.type !== 'ask-again') return [];
      const { input } = effect;
      switch (input.kind) {
        case 'start':
          return ['(start)'];
        case 'spoken':
          return [input.text];
        case 'keyed':
          return [`#${input.digits}`];
        case 'no-input':
          return [`(no input ${input.attempt})`];
        case 'tool-result':
          return [`(result of ${input.tool})`];
        case 'transfer':
          return [`(transfer ${input.outcome})`];
      }
    });
  }

  #frames(ms: number, voiced: boolean, speechLike: number, cameMs?: number): this {
    for (let passed = 0; passed < ms; passed += 20) {
      this.nowMs += 20;
      this.feed({ type: 'frame', frame: { atMs: this.nowMs, cameMs: cameMs ?? this.nowMs, voiced, speechLike } });
    }
    return this;
  }
}
