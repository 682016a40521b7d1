import type { CallerListener, DialogHook } from '../../dialog/port.ts';
import type { CallLine } from '../call-line.ts';
import { callerFloor } from '../turn/floor.ts';

/** The caller's audio on its way to a dialog that hears it. */
export class CallerFeed {
  readonly #line: CallLine;
  readonly #hook: DialogHook;

  constructor(line: CallLine, hook: DialogHook) {
    this.#line = line;
    this.#hook = hook;
  }

  /** The line is there. */
  open(line: Parameters<CallerListener['open']>[0]): void {
    const { listener } = this.#hook;
    listener?.open(line);
    listener?.onTurnOver?.(() => this.#line.feed({ type: 'turn-over', atMs: this.#line.clock.nowMs() }));
  }

  /** Passes audio on; nothing while a secret value is keyed or the bot is muted. */
  hear(pcm: Int16Array): void {
    const { turn, clock } = this.#line;
    const { listener } = this.#hook;
    if (listener === undefined || listener.listens === false || turn.bot.muted || clock.nowMs() < turn.dialog.secretUntilMs)
      return;
    listener.hear(pcm, callerFloor(turn) !== undefined);
  }
}
