import type { AudibleAction, DialogAction, DialogHook } from '../../dialog/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Reply } from '../outbound/reply.ts';

interface DialogSink {
  say(action: AudibleAction): void;
  /** Everything that is not heard. */
  act(action: Exclude<DialogAction, AudibleAction>): void;
  /** The dialog's first action is here. */
  answered(): void;
  /** All of the dialog's answer is here. @param isEmpty whether it neither says nor does anything */
  complete(isEmpty: boolean): void;
  failed(error: unknown): void;
}

/** Carries a dialog's answer to one turn out as it streams in; an aborted answer is dropped in silence. */
export async function runDialog(
  respond: (signal: AbortSignal) => AsyncIterable<DialogAction>,
  reply: Reply,
  sink: DialogSink,
): Promise<void> {
  let first = true;
  let isEmpty = true;
  try {
    for await (const action of respond(reply.signal)) {
      if (reply.signal.aborted) return;
      if (first) sink.answered();
      first = false;
      const isNothing = action.type === 'step' || (action.type === 'say' && action.text.trim() === '');
      if (!isNothing) isEmpty = false;
      if (action.type === 'say' || action.type === 'play') sink.say(action);
      else sink.act(action);
      await reply.room();
    }
    if (first && !reply.signal.aborted) sink.answered();
  } catch (error) {
    if (!reply.signal.aborted) sink.failed(error);
    return;
  }
  if (!reply.signal.aborted) sink.complete(isEmpty);
  reply.close();
}

/** Cleaning up after a dialog must not keep a call from being over. */
const DISPOSE_LIMIT_MS = 5_000;

/** Lets a dialog clean up, for a limited time. Never rejects. */
export async function disposeDialog(
  hook: DialogHook,
  callId: string,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  const limit = new AbortController();
  const late = sleep(clock, DISPOSE_LIMIT_MS, limit.signal).then(
    () => logger.warn({ callId, limitMs: DISPOSE_LIMIT_MS }, 'dialog cleanup timed out'),
    () => undefined,
  );
  try {
    await Promise.race([hook.dispose?.(), late]);
  } catch (error) {
    logger.warn({ callId, error }, 'dialog cleanup failed');
  } finally {
    limit.abort(new Error('the dialog has cleaned up'));
  }
}
