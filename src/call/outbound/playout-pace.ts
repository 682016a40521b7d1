import type { CarrierCapabilities } from '../../carriers/port.ts';

/** Somebody looks every 20 ms: a look so much later than the one before was kept from coming, for longer than a first chunk bears. */
const STALL_MS = 150;
/** Longer than any stall that a call outlives: the line was away. */
const AWAY_MS = 2_000;
/** Stalls that come again within this time are taken to go on: one alone is a bot that loads something. */
const REMEMBERED_MS = 10_000;
/** The first sound waits no longer than this for more behind it. */
const MOST_WAIT_MS = 60;
/** A carrier that wants longer messages than this stutters at short ones: the first sound waits for a whole one. */
const USUAL_MESSAGE_MS = 100;

/**
 * How regularly playout is looked after. Where the event loop was seen to stall again and again, the first sound of an answer waits a moment for
 * more behind it: what a carrier has of the first chunk alone does not outlast the next stall.
 */
export class PlayoutPace {
  /** NaN before the first look. */
  #lookedMs = Number.NaN;
  #gapMs = 0;
  #lastStall = { atMs: Number.NEGATIVE_INFINITY, ms: 0 };
  /** The longer of the last two stalls that came close together, and how long one is reckoned with. */
  #expected = { untilMs: Number.NEGATIVE_INFINITY, ms: 0 };
  #waitsSinceMs: number | undefined;

  /** Playout is looked after, now. */
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

  /** Whether nobody had looked for a while when this look came. */
  get wasLate(): boolean {
    return this.#gapMs > STALL_MS;
  }

  /** @param readyMs sound that could be sent to a carrier that has none; infinite when no more will come */
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
/** Of what goes to a carrier that takes nothing ahead of time: one message is played while the next waits. */
const REALTIME_MESSAGE_MS = 20;

/**
 * How far ahead this carrier is sent audio. One that plays in real time, and one that takes back nothing that it was sent, has no more
 * than three messages: what an interrupted bot still says is bounded by that alone.
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

/** One message waits while another is played, however long they are. */
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
