import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Job, Queue } from 'bullmq';
import { z } from 'zod';
import { PERSONAL_KINDS } from '../analysis/profile.ts';
import { Redactor } from '../analysis/redaction/redact.ts';
import { type BullQueue, decodeJobId } from './bull-backend.ts';

/** References in a payload; all else is hidden, also in future jobs. */
const reference = z.object({
  tenantId: z.string().optional(),
  callId: z.string().optional(),
  submissionId: z.string().optional(),
  id: z.string().optional(),
  profile: z.string().optional(),
  round: z.number().optional(),
  index: z.number().optional(),
});

const MOST_JOBS = 100;
const MOST_REASON_CHARACTERS = 1000;

export interface BoardQueueOptions {
  readonly description: string;
  /** Whether the backend lists its queues' workers, as Redis does. */
  readonly knowsWorkers: boolean;
}

/** A queue for the dashboard: read-only, with ids and references, without words, people, return values, logs and stack traces. */
export class BoardQueue extends BullMQAdapter {
  readonly #knowsWorkers: boolean;

  constructor(queue: BullQueue, { description, knowsWorkers }: BoardQueueOptions) {
    // A queue's type names its backend; the adapter expects Redis but reads any.
    super(queue as unknown as Queue, { readOnlyMode: true, description });
    this.#knowsWorkers = knowsWorkers;
    this.setFormatter('data', (payload: unknown) => reference.safeParse(payload).data ?? {});
    this.setFormatter('returnValue', () => null);
    this.setFormatter('progress', () => 0);
    this.setFormatter('name', ({ id }: { readonly id?: unknown }) => decodeJobId(typeof id === 'string' ? id : ''));
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const job = await super.getJob(id);
    return job === undefined ? undefined : withoutWords(job);
  }

  override async getJobs(...[statuses, start = 0, end = start]: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    const jobs = await super.getJobs(statuses, start, Math.min(end, start + MOST_JOBS - 1));
    return jobs.map((job) => withoutWords(job));
  }

  override async getJobLogs(): Promise<string[]> {
    return [];
  }

  /** Jobs here have no children. */
  override async getFlowProducer(): Promise<null> {
    return null;
  }

  override getWorkers(): ReturnType<BullMQAdapter['getWorkers']> {
    return this.#knowsWorkers ? super.getWorkers() : Promise.resolve(null);
  }
}

/** @param job not shared: changed in place */
function withoutWords(job: Job): Job {
  // BullMQ's types declare both as required, but they are absent without a failure.
  const { failedReason, deferredFailure } = job as Partial<Job>;
  if (failedReason !== undefined) job.failedReason = shownReason(failedReason).slice(0, MOST_REASON_CHARACTERS);
  if (deferredFailure !== undefined) job.deferredFailure = shownReason(deferredFailure).slice(0, MOST_REASON_CHARACTERS);
  job.stacktrace = [];
  return job;
}

const redactor = new Redactor({ keywords: [], personal: PERSONAL_KINDS });

/** BullMQ's own reason; it quotes nothing. */
const STALLED = 'job stalled more than allowable limit';
const CODED = /^(OFFHOOK_[A-Z\d_]+): ([^]*)$/u;
/** Errors that quote another server after a colon, possibly with a caller's words. */
const QUOTES_OTHERS = /^OFFHOOK_(?:ANALYSIS_MODEL|SPEECH_[A-Z]+)$/u;
/** An apostrophe inside a word is no quote. */
const OPENING_QUOTE = /["`“”«»]|(?<![\p{L}\p{N}])'/u;
const TO_THE_LAST_QUOTE = /^[^]*["`“”«»']/u;
const SYSTEM_CODE =
  /\bE(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE|(?:HOST|NET)UNREACH|NOSPC|NOENT|ACCES|PERM|MFILE|ROFS)\b/u;
const WITHOUT_CODE = 'an error without a code, whose text stands in the log';

/**
 * A job's failure for display: the code, and our own part of the message. Numbers, addresses and the like are hidden as in analyses, as are quotes
 * and token-like words.
 * @param reason from the queue: `CODE: message` of an OffhookError, else any error text
 */
export function shownReason(reason: string): string {
  if (reason === STALLED) return reason;
  const [, code, message] = CODED.exec(reason) ?? [];
  if (code === undefined || message === undefined) {
    const system = SYSTEM_CODE.exec(reason)?.[0];
    return system === undefined ? WITHOUT_CODE : `${system}: ${WITHOUT_CODE}`;
  }
  const ours = QUOTES_OTHERS.test(code) ? (message.split(': ', 1)[0] ?? '') : message;
  return `${code}: ${redactor.text(withoutQuotes(ours)).replaceAll(/\S{24,}/gu, '…')}`;
}

/** Quotes may be nested or unclosed, so everything from the first mark to the last is removed. */
function withoutQuotes(text: string): string {
  const first = OPENING_QUOTE.exec(text)?.index;
  if (first === undefined) return text;
  const [quoted = ''] = TO_THE_LAST_QUOTE.exec(text.slice(first + 1)) ?? [];
  return `${text.slice(0, first)}…${quoted === '' ? '' : text.slice(first + 1 + quoted.length)}`;
}
