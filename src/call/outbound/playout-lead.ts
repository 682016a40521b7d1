import type { CarrierCapabilities } from '../../carriers/port.ts';

export interface PlayoutLead {
  /** Audio is sent when less than this is queued at the carrier, … */
  readonly leadLowMs: number;
  /** … until this much is, … */
  readonly leadTargetMs: number;
  /** … and never more than this. */
  readonly leadMaxMs: number;
  readonly messageMs: number;
  readonly markEveryMs: number;
}

export const DEFAULT_LEAD: PlayoutLead = { leadLowMs: 300, leadTargetMs: 400, leadMaxMs: 500, messageMs: 100, markEveryMs: 450 };

/** Of what goes to a carrier that takes nothing ahead of time: one message is played while the next waits. */
const REALTIME_MESSAGE_MS = 20;

/**
 * How far ahead this carrier is sent audio. One that plays in real time, and one that takes back nothing that it was sent, has no more
 * than three messages: what an interrupted bot still says is bounded by that alone.
 */
export function leadFor({ pacing, clear, frameMs }: CarrierCapabilities, lead: PlayoutLead): PlayoutLead {
  if (pacing === 'burst' && clear === 'native') {
    return frameMs === 0 ? lead : { ...lead, messageMs: Math.max(1, Math.round(lead.messageMs / frameMs)) * frameMs };
  }
  const messageMs = frameMs === 0 ? REALTIME_MESSAGE_MS : frameMs;
  const { markEveryMs } = lead;
  return { leadLowMs: messageMs, leadTargetMs: 2 * messageMs, leadMaxMs: 3 * messageMs, messageMs, markEveryMs };
}
