import type { CallRecord } from '../../call/log/call-record.ts';
import { dispositionOf } from '../../outbound/attempt-steps.ts';

/** What a campaign counts an ended call as. */
export function countedAs({ endReason, outbound, optOut, callBackAtWallMs }: CallRecord): string {
  const { answeredBy, message, identified = false } = outbound ?? {};
  const callBack = callBackAtWallMs !== undefined;
  return dispositionOf({ endReason, answeredBy, optOut: optOut?.kind, callBack, message, identified });
}
