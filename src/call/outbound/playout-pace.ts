import type { CarrierCapabilities } from '../../carriers/port.ts';

/** Playout runs every 20 ms; a run this late was blocked for longer than a first chunk lasts. */
const STALL_MS = 150;
/** Longer than any stall a call survives: the line was away. */
const AWAY_MS = 2_000;
/** Stalls that recur within this time are expected to continue; a single one may be a bot loading. */
const REMEMBERED_MS = 10_000;
/** Longest wait of the first sound for more after it. */
const MOST_WAIT_MS = 60;
/** A carrier with longer messages stutters on short ones: the first sound waits for a whole message. */
const USUAL_MESSAGE_MS = 100;

/**
 * Watches how regularly playout runs. After repeated event-loop stalls, the first sound of a reply waits briefly for more after it, since the first
 * chunk alone would not outlast the next stall.
 */
export class PlayoutPace {
  /** NaN before the first look. */
  #lookedMs = Number.NaN;
  #gapMs = 0;
  #lastStall = { atMs: Number.NEGATIVE_INFINITY, ms: 0 };
  /** The longer of the last two stalls close together, and until when one is expected. */
  #expected = { untilMs: Number.NEGATIVE_INFINITY, ms: 0 };
  #waitsSinceMs: number | undefined;

  /** Called on every playout run. */
  look(nowMs: number): void {
    const gapMs = nowMs - this.#lookedMs;
    this.#lookedMs = nowMs;
    this.#gapMs = gapMs <= AWAY_MS ? gapMs : 0;
    if (!this.wasLate) return;
    const stall = { atMs: nowMs, ms: this.#gapMs };
    if (nowMs - this.#lastStall.atMs < REMEMBERED_MS)
      this.#expected = { untilMs: nowMs + REMEMBERED_MS, ms: Math.max(stall.ms, this.#lastStall.ms) };
    this.#lastStall = stall;
  }

  /** Whether this run came late. */
  get wasLate(): boolean {
    return this.#gapMs > STALL_MS;
  }

  /** @param readyMs audio ready for an empty carrier; infinite when it is complete */
  shouldWait(
    readyMs: number,
    { leadTargetMs, messageMs }: { readonly leadTargetMs: number; readonly messageMs: number },
  ): boolean {
    const nowMs = this.#lookedMs;
    const stallMs = nowMs < this.#expected.untilMs ? Math.min(leadTargetMs, this.#expected.ms + messageMs) : 0;
    const enoughMs = Math.max(stallMs, messageMs > USUAL_MESSAGE_MS ? messageMs : 0);
    const sinceMs = (this.#waitsSinceMs ??= nowMs);
    if (readyMs < enoughMs && nowMs - sinceMs < MOST_WAIT_MS) return true;
    this.#waitsSinceMs = undefined;
    return false;
  }
}

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

/** Longer than any call. */
const NEVER_MS = 1e9;
/** Message length for a carrier that takes nothing ahead of time: one message plays while the next waits. */
const REALTIME_MESSAGE_MS = 20;

/**
 * The playout lead for this carrier. One that plays in real time, or cannot clear, has at most three messages: this alone limits what an interrupted
 * bot still says.
 */
export function leadFor(capabilities: CarrierCapabilities, wanted: PlayoutLead): PlayoutLead {
  const lead = capabilities.marksAtEndsOnly === true ? { ...wanted, markEveryMs: NEVER_MS } : wanted;
  const { pacing, clear, frameMs, messageMs: wantedMs } = capabilities;
  if (pacing === 'burst' && clear === 'native') {
    if (wantedMs !== undefined) return leadForMessages(wantedMs, lead);
    return frameMs === 0 ? lead : { ...lead, messageMs: Math.max(1, Math.round(lead.messageMs / frameMs)) * frameMs };
  }
  const messageMs = wantedMs ?? (frameMs === 0 ? REALTIME_MESSAGE_MS : frameMs);
  const { markEveryMs } = lead;
  return { leadLowMs: messageMs, leadTargetMs: 2 * messageMs, leadMaxMs: 3 * messageMs, messageMs, markEveryMs };
}

/** One message waits while another plays, however long they are. */
function leadForMessages(messageMs: number, lead: PlayoutLead): PlayoutLead {
  const leadLowMs = Math.max(lead.leadLowMs, messageMs);
  return {
    leadLowMs,
    leadTargetMs: Math.max(lead.leadTargetMs, 2 * messageMs),
    leadMaxMs: Math.max(lead.leadMaxMs, leadLowMs + messageMs),
    messageMs,
    markEveryMs: lead.markEveryMs,
  };
}
