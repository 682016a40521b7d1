import type { CallRegistry } from './call/call-registry.ts';
import type { CallIntake } from './http/intake.ts';
import type { BusinessEvents } from './observability/events.ts';

/** Lets carriers' routes reach the calls, and reports each answer. */
export function callIntake(calls: CallRegistry, events: BusinessEvents): CallIntake {
  return {
    answer(inbound) {
      const answer = calls.answer(inbound);
      const { carrier, carrierCallId, from, to, botName } = inbound;
      if (answer.kind === 'refuse') events.callRefused({ carrier, carrierCallId, reason: answer.reason, from, to });
      else {
        const bot = botName === undefined ? {} : { bot: botName };
        events.callAnswered({ carrier, callId: answer.callId, carrierCallId, ...bot, from, to });
      }
      return answer;
    },
    attach(callId, attachment) {
      calls.attach(callId, attachment);
    },
    abandon(callId, _attachmentId, reason) {
      calls.abandon(callId, reason);
    },
    carrierStatus(carrierCallId, _status, terminal) {
      if (terminal) calls.carrierEnded(carrierCallId, 'caller-hangup');
    },
  };
}
