import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Dialler, DialRequest } from '../outbound/dialling.ts';
import { callerIdOf } from '../config/caller-ids.ts';
import type { Settings } from '../config/schema.ts';
import type { PlacingMeans } from '../config/tenants.ts';
import { CallBackLaterError, JobSubjectError } from '../records/errors.ts';
import { CALL_BACKS, type JobHandler, type JobRun, type Work } from '../records/queue/port.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallRecord } from '../records/record.ts';
import type { Store } from '../records/port.ts';
import type { Records } from './records.ts';

export interface CallBackParts {
  readonly settings: Pick<Settings, 'dialling'>;
  /** What a tenant's calls are placed by. */
  readonly means: (tenantId: string) => Pick<PlacingMeans, 'callerIds'>;
  readonly store: { readonly calls: Pick<Store['calls'], 'get'>; readonly attempts: Pick<Store['attempts'], 'get'> };
  readonly dialler: Pick<Dialler, 'ask' | 'place' | 'cancel'>;
  /** Names of the bots whose servers cannot be reached now. */
  readonly botsDown: () => Promise<readonly string[]>;
  readonly logger: Pick<Logger, 'info'>;
}

const subject = z.object({ tenantId: z.string().min(1), callId: z.string().min(1) });

/**
 * Places a promised call-back once: when the bot's server can be reached again, and the dial gate allows it. What the gate
 * refuses for good is over; its decision is in the log, and the refused attempt says why.
 */
export function callBackHandler(parts: CallBackParts): JobHandler {
  const { store, dialler, botsDown, logger } = parts;
  return async (run) => {
    const { tenantId, callId } = subject.parse(run.payload);
    const record = await store.calls.get(tenantId, callId);
    if (record === undefined) throw new JobSubjectError('the call of a promised call-back is erased', false, { callId });
    if (await wasPlaced(parts, tenantId, callId, run)) return;
    if ((await botsDown()).includes(record.botName))
      throw new CallBackLaterError("the bot's server is still down", { facts: { callId } });
    const [gated] = await dialler.ask([requestOf(parts, record, attemptIdOf(callId, run.attempt))]);
    if (gated === undefined) return;
    const { id } = gated.attempt;
    if (!gated.allowed) {
      const { refusal, retryAtMs } = gated.refusal;
      if (retryAtMs !== undefined)
        throw new CallBackLaterError(`the dial gate says no for now: ${refusal}`, { facts: { callId, retryAtMs } });
      return logger.info({ callId, attemptId: id, refusal }, 'promised call-back refused by the dial gate');
    }
    if ((await dialler.place(tenantId, id)) === 'no-room') {
      await dialler.cancel(tenantId, id, 'no-room');
      throw new CallBackLaterError('there is no room for a call now', { facts: { callId } });
    }
    logger.info({ callId, attemptId: id }, 'promised call-back placed');
  };
}

/** Works on promised call-backs until it is stopped. */
export function runCallBacks({ queue }: Pick<Records, 'queue'>, parts: CallBackParts): Work {
  return queue.work(CALL_BACKS, callBackHandler(parts), { concurrency: 10 });
}

/** A try that was placed is the last, though the process died before it said so. */
async function wasPlaced({ store }: CallBackParts, tenantId: string, callId: string, { attempt }: JobRun): Promise<boolean> {
  for (let each = 1; each <= attempt; each += 1) {
    const before = await store.attempts.get(tenantId, attemptIdOf(callId, each));
    if (before?.placedAtMs !== undefined) return true;
  }
  return false;
}

function attemptIdOf(callId: string, attempt: number): string {
  return `call_${createHash('sha256').update(`call-back ${callId} ${attempt}`).digest('hex').slice(0, 32)}`;
}

/** The number that was dialled calls back, where calls may come from it. */
function requestOf({ settings: { dialling }, means }: CallBackParts, record: CallRecord, callId: string): DialRequest {
  const { callerIds } = means(record.tenantId);
  const isOurs = callerIdOf(callerIds, record.to) !== undefined;
  const { tenantId, botName, variables = {}, id } = record;
  return {
    tenantId,
    callId,
    to: record.from,
    from: isOurs ? record.to : (callerIds.find(({ isSeries }) => !isSeries)?.number ?? ''),
    botName,
    variables,
    metadata: { callBackOf: id },
    ringTimeoutMs: dialling.ringTimeoutMs,
    profile: dialling.profile,
    purpose: 'transactional',
    registrations: {},
    narrowing: [],
    callBackAtMs: record.callBackAtMs,
  };
}
