import type { DialogAction } from '../../dialog/port.ts';
import { MadeAhead } from '../made-ahead.ts';

/** Most actions in one answer; a longer one is a fault. */
const MOST_ACTIONS = 1_000;

type Say = DialogAction & { type: 'say' };
/** Has the first sentence spoken in advance, and takes the words as they come; `BotVoice`. */
interface Voice {
  speakAhead(signal: AbortSignal): (action: Say) => void;
}

/** A dialog's answer to words the caller may not have finished; it is used only if the words turn out the same. */
export class EarlyAnswer extends MadeAhead<DialogAction> {
  readonly turn: number;
  readonly text: string;

  /** @param text the words it answers @param voice absent while there is none: the answer is spoken when it is taken */
  constructor(turn: number, text: string, respond: (signal: AbortSignal) => AsyncIterable<DialogAction>, voice?: Voice) {
    super(
      (signal) => (voice === undefined ? respond(signal) : spokenAhead(respond(signal), voice.speakAhead(signal))),
      MOST_ACTIONS,
    );
    this.turn = turn;
    this.text = text;
  }
}

async function* spokenAhead(actions: AsyncIterable<DialogAction>, speak: (action: Say) => void): AsyncIterable<DialogAction> {
  for await (const action of actions) {
    if (action.type === 'say') speak(action);
    yield action;
  }
}
