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
