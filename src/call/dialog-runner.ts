import type { DialogAction, DialogHook, DialogTurn } from '../dialog/port.ts';
import type { Reply } from './speaker.ts';

/** What a dialog's answer does to the call. */
export interface DialogSink {
  say(action: DialogAction & { type: 'say' }): void;
  /** Everything but speech. */
  act(action: Exclude<DialogAction, { type: 'say' }>): void;
  /** The dialog's first action is here. */
  answered(): void;
  failed(error: unknown): void;
}

/** Asks the dialog one turn and carries its answer out as it streams in; an aborted answer is dropped in silence. */
export async function runDialog(hook: DialogHook, turn: DialogTurn, reply: Reply, sink: DialogSink): Promise<void> {
  let first = true;
  try {
    for await (const action of hook.respond(turn, reply.signal)) {
      if (reply.signal.aborted) return;
      if (first) sink.answered();
      first = false;
      if (action.type === 'say') sink.say(action);
      else sink.act(action);
    }
    if (first && !reply.signal.aborted) sink.answered();
  } catch (error) {
    if (!reply.signal.aborted) sink.failed(error);
    return;
  }
  reply.close();
}
