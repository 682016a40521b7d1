import type { CallAnswer } from '../call/admission/call-door.ts';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import { defaultPhrases } from '../config/bot-phrases.ts';
import { sleep, within } from '../kernel/waiting.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { RefusalCause } from '../observability/metrics.ts';
import type { CallIntake, MediaExpectations } from './intake.ts';

export interface AnswerDeps {
  readonly intake: CallIntake;
  readonly expected: MediaExpectations;
  /** Time from the answer to a started stream. */
  readonly mediaWithinMs: number;
  readonly events: BusinessEvents;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The answer for a call: accepted, with what was made of its grant; refused with a sentence; or attached, with its socket open. */
export type AnsweredCall<Made> =
  | { readonly kind: 'taken'; readonly made: Made }
  | { readonly kind: 'refused'; readonly say: string; readonly language: string; readonly cause: RefusalCause }
  | { readonly kind: 'attached' }
  /** The carrier asked what comes after the stream of an ended call. */
  | { readonly kind: 'over' };

/** Longest time for an answer; carriers give up on a webhook after 15 s. */
const ANSWER_WITHIN_MS = 8000;
/** The stream's stop may arrive after the webhook of the redirect that caused it. */
const STOPPED_WITHIN_MS = 2000;
const ASKED_EVERY_MS = 20;

/**
 * Admits a call and expects its media; after an internal failure the caller still hears a sentence.
 * @param make makes the answer out of the grant of its media socket
 */
export async function answerCall<Made>(
  deps: AnswerDeps,
  inbound: InboundCall,
  requestId: string,
  make: (grant: StreamGrant) => Made | Promise<Made>,
): Promise<AnsweredCall<Made>> {
  const { clock, events, expected, logger } = deps;
  const { carrier, carrierCallId, from, to } = inbound;
  const facts = { carrier, carrierCallId, from, to };
  const refuse = (say: string, language: string, cause: RefusalCause, reason: string): AnsweredCall<Made> => {
    events.callRefused({ ...facts, cause, reason });
    return { kind: 'refused', say, language, cause };
  };
  const { apology } = defaultPhrases('en');
  let promised: string | undefined;
  try {
    const answering = answerOf(deps, inbound);
    const answer = await within(clock, ANSWER_WITHIN_MS, answering, undefined);
    if (answer === undefined) {
      answering
        .then((late) => abandonLate(deps, late))
        .catch((error: unknown) => logger.error({ error, requestId }, 'call admission failed after its webhook timed out'));
      return refuse(apology, 'en', 'late', 'admission timed out');
    }
    if (answer.kind === 'attached' || answer.kind === 'over') return answer;
    if (answer.kind === 'refuse') return refuse(answer.say, answer.language, answer.cause, answer.reason);
    const { callId, attachmentId } = answer;
    promised = attachmentId;
    expected.expect(callId, attachmentId, deps.mediaWithinMs);
    const made = await make({ carrier, carrierCallId, callId, attachmentId });
    // A continuing call was answered before.
    if (inbound.next === undefined)
      events.callAnswered({ ...facts, callId, ...(inbound.botName === undefined ? {} : { bot: inbound.botName }) });
    return { kind: 'taken', made };
  } catch (error) {
    logger.error({ error, requestId, carrierCallId }, 'answering a call failed');
    if (promised !== undefined) expected.abandon(promised, 'answering failed');
    return refuse(apology, 'en', 'failed', 'answering failed');
  }
}

/** Ends a refused call at a carrier that keeps it up without a stream, in silence. Never throws. */
export function endRefused(
  { carriers, logger }: { readonly carriers: OpenCarriers; readonly logger: Logger },
  { carrier, carrierCallId }: Pick<InboundCall, 'carrier' | 'carrierCallId'>,
): void {
  const control = carriers.get(carrier)?.control;
  if (control?.outlivesStream !== true) return;
  control
    .hangUp(carrierCallId, new AbortController().signal)
    .catch((error: unknown) => logger.warn({ carrier, carrierCallId, error }, 'ending a refused call at its carrier failed'));
}

/** Asks for admission. A repeated webhook whose call has an open socket is asked about again, until that could have been stopped. */
async function answerOf({ clock, intake }: Pick<AnswerDeps, 'clock' | 'intake'>, inbound: InboundCall): Promise<CallAnswer> {
  const untilMs = clock.nowMs() + STOPPED_WITHIN_MS;
  for (;;) {
    const answer = await intake.answer(inbound);
    if (answer.kind !== 'attached' || clock.nowMs() >= untilMs) return answer;
    await sleep(clock, ASKED_EVERY_MS);
  }
}

/** The caller has already heard the apology, so a late admission is returned. */
function abandonLate(deps: AnswerDeps, late: CallAnswer): void {
  if (late.kind === 'accept') deps.intake.abandon(late.callId, late.attachmentId, 'answered too late');
}
