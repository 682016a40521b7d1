import type { CallRegistry } from '../call/admission/call-registry.ts';
import type { CallIntake } from '../http/intake.ts';

/** Lets carriers' routes, which report their own events, reach the calls. */
export function callIntake(calls: CallRegistry): CallIntake {
  return {
    answer: (inbound) => calls.answer(inbound),
    attach: (callId, attachment) => calls.attach(callId, attachment),
    abandon: (callId, _attachmentId, reason) => calls.abandon(callId, reason),
    carrierStatus(carrierCallId, _status, terminal) {
      if (terminal) calls.carrierEnded(carrierCallId, 'caller-hangup');
    },
  };
}
