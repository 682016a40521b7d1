import { joinWords } from './transcript.ts';
import type { Asked, TurnState } from './turn-state.ts';

/** The state before a turn that was not over was asked, with its words and what was said since. */
export function rollBackTurn(state: TurnState, asked: Asked, atMs: number): TurnState {
  return {
    ...state,
    words: joinWords(asked.words, state.words),
    wordsChangedMs: atMs,
    askedSeg: asked.segBefore,
    asked: undefined,
    expectation: asked.expectation,
  };
}

/** What the dialog was asked, where that can be taken back: the greeting and keys cannot. */
export function askedInWords({ asked }: TurnState): Asked | undefined {
  return asked?.input.kind === 'spoken' || asked?.input.kind === 'no-input' ? asked : undefined;
}

export function spokeSinceAsked({ asked, hearing }: TurnState): boolean {
  return asked === undefined || (hearing.lastVoicedMs ?? Number.NEGATIVE_INFINITY) > asked.atMs;
}
