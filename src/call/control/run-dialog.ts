import type { AudibleAction, DialogAction, DialogHook, DialogTurn } from '../../dialog/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Reply } from '../outbound/reply.ts';

interface DialogSink {
  say(action: AudibleAction): void;
  /** Carries out an inaudible action. */
  act(action: Exclude<DialogAction, AudibleAction>): void;
  /** The dialog's first action has arrived. */
  answered(): void;
  /** The dialog's answer is complete. @param isEmpty it neither says nor does anything */
  complete(isEmpty: boolean): void;
  failed(error: unknown): void;
}

/**
 * Carries out a dialog's answer to one turn as it streams in; an aborted answer is dropped silently.
 * @param signal of this answer; aborted with the reply at the latest
 */
export async function runDialog(
  respond: (signal: AbortSignal) => AsyncIterable<DialogAction>,
  reply: Reply,
  signal: AbortSignal,
  sink: DialogSink,
): Promise<void> {
  let first = true;
  let isEmpty = true;
  try {
    for await (const action of respond(signal)) {
      if (signal.aborted) return;
      if (first && action.type !== 'listen' && action.type !== 'usage') {
        sink.answered();
        first = false;
      }
      const isNothing =
        action.type === 'step' ||
        action.type === 'listen' ||
        action.type === 'usage' ||
        (action.type === 'say' && action.speech === undefined && action.text.trim() === '');
      if (!isNothing) isEmpty = false;
      if (action.type === 'say' || action.type === 'play') sink.say(action);
      else sink.act(action);
      await reply.room();
    }
    if (first && !signal.aborted) sink.answered();
  } catch (error) {
    if (!signal.aborted) sink.failed(error);
    return;
  }
  if (!signal.aborted) sink.complete(isEmpty);
  reply.close();
}

/** Time limit for a dialog that is only informed. */
const TELL_LIMIT_MS = 3_000;

/** Takes the inaudible actions of an informed dialog. */
interface ToldSink {
  set(variables: Readonly<Record<string, string>>): void;
  note(text: string): void;
  callBack(at: string | undefined): void;
  failed(error: unknown): void;
}

/** Informs a dialog without speaking its answer, for a limited time. Never rejects. */
export async function tellDialog(hook: DialogHook, turn: DialogTurn, clock: Clock, sink: ToldSink): Promise<void> {
  const limit = new AbortController();
  const timer = clock.after(TELL_LIMIT_MS, () => limit.abort(new Error('the dialog was told long ago')));
  try {
    for await (const action of hook.respond(turn, limit.signal)) {
      if (limit.signal.aborted) return;
      if (action.type === 'set') sink.set(action.variables);
      if (action.type === 'note') sink.note(action.text);
      if (action.type === 'call-back') sink.callBack(action.at);
    }
  } catch (error) {
    sink.failed(error);
  } finally {
    timer.cancel();
  }
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
    limit.abort(new Error('dialog cleanup finished'));
  }
}
