import type { Attachment } from '../../carriers/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { BusinessEvents } from '../../observability/events.ts';
import type { AttachmentRecord } from './call-record.ts';
import type { Timeline } from './timeline.ts';

export interface AttachmentLogParts {
  readonly callId: string;
  readonly clock: Clock;
  readonly events: Pick<BusinessEvents, 'detached' | 'marksMissing'>;
  readonly timeline: Timeline;
}

/** The carrier sockets of one call, for its record and timeline. */
export class AttachmentLog {
  readonly #parts: AttachmentLogParts;
  #records: readonly AttachmentRecord[];
  #carrier = '';
  #marksAreMissing = false;

  /** @param earlier sockets from before a crash */
  constructor(parts: AttachmentLogParts, earlier: readonly AttachmentRecord[] = []) {
    this.#parts = parts;
    this.#records = earlier;
  }

  get records(): readonly AttachmentRecord[] {
    return this.#records;
  }

  attached({ id, carrier, started: { streamId, inbound, outbound } }: Attachment): void {
    const { clock, timeline } = this.#parts;
    this.#carrier = carrier;
    const open = { attachedAtWallMs: clock.wallMs(), detachedAtWallMs: undefined, reason: undefined };
    this.#records = [...this.#records, { id, streamId, inbound, outbound, ...open }];
    timeline.add({ type: 'attached', atMs: clock.nowMs(), detail: id });
  }

  /** The carrier returns too few marks: heard text is estimated from here on. Logged once. */
  marksMissing(): void {
    if (this.#marksAreMissing) return;
    this.#marksAreMissing = true;
    const { callId, clock, events, timeline } = this.#parts;
    events.marksMissing({ carrier: this.#carrier, callId });
    timeline.add({
      type: 'problem',
      atMs: clock.nowMs(),
      detail: 'marks: the carrier returns too few; what was heard is estimated',
    });
  }

  detached({ carrier, id: attachmentId }: Attachment, code: number, reason: string): void {
    const { callId, clock, events, timeline } = this.#parts;
    const end = { detachedAtWallMs: clock.wallMs(), reason };
    this.#records = this.#records.map((record) => (record.id === attachmentId ? { ...record, ...end } : record));
    timeline.add({ type: 'detached', atMs: clock.nowMs(), detail: reason });
    events.detached({ carrier, callId, attachmentId, code, reason });
  }
}
