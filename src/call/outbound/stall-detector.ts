import type { Media } from '../media.ts';
import type { TurnState } from '../turn/turn-state.ts';

/** Notices a caller who waits in silence for sound that was announced: nobody but us can end that. */
export class StallDetector {
  readonly #synthesisMs: number;
  readonly #dialogMs: number;
  #sinceMs: number | undefined;

  /**
   * @param synthesisMs silence allowed while a sentence is being made
   * @param dialogMs silence allowed while a dialog is in the middle of its answer
   */
  constructor(synthesisMs: number, dialogMs: number) {
    this.#synthesisMs = synthesisMs;
    this.#dialogMs = dialogMs;
  }

  /** @returns true once for each silence that has lasted too long */
  tick(turn: TurnState, media: Media, lastWords: boolean, nowMs: number): boolean {
    if (!owesSound(turn, media, lastWords, nowMs)) {
      this.#sinceMs = undefined;
      return false;
    }
    this.#sinceMs ??= nowMs;
    const making = lastWords || media.voice.reply?.synthesizing === true;
    if (nowMs - this.#sinceMs < (making ? this.#synthesisMs : this.#dialogMs)) return false;
    this.#sinceMs = undefined;
    return true;
  }
}

function owesSound(turn: TurnState, { outbound, voice }: Media, lastWords: boolean, nowMs: number): boolean {
  if (outbound.playout.isAudible(nowMs) || !voice.speaking) return false;
  if (lastWords) return true;
  const { phase } = turn;
  if (phase.name === 'thinking') return voice.reply?.synthesizing === true;
  return phase.name === 'bot-speaking' && phase.contest === undefined;
}
