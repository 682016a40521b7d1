import { open } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Logger } from '../../observability/logger.ts';
import type { AttemptRepository } from '../dialling.ts';
import { objectKey, type ObjectStore } from '../objects/port.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';
import { auditHeadReached } from '../webhooks/webhook-event.ts';
import type { AuditLog } from './audit-log.ts';

/** The end of an audit log at some time. A copy kept elsewhere proves later that all entries up to it are unchanged: the hash covers them. */
export const auditHead = z.object({
  /** `actions`: `audit.jsonl` of a data folder; `decisions`: a tenant's dial decisions. */
  log: z.enum(['actions', 'decisions']),
  /** Id of the log of actions, or of the tenant. */
  of: z.string().min(1).max(200),
  sequence: z.int().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/u),
  /** When it was read. */
  at: z.iso.datetime(),
});
export type AuditHead = z.output<typeof auditHead>;

/** Action of entries with the heads of decision logs. */
export const HEAD_ACTION = 'audit.head';

/** A place where heads are stored. */
export interface HeadPlace {
  /** Name for the log. */
  readonly name: string;
  /** May be repeated for the same head. @throws when it cannot be stored now */
  keep(head: AuditHead, signal: AbortSignal): Promise<void>;
}

/** Appends one line of JSON a head. Creates the file, but not its folder. */
export function headFile(path: string): HeadPlace {
  return {
    name: 'file',
    async keep(head) {
      const file = await open(path, 'a', 0o600);
      try {
        await file.appendFile(`${JSON.stringify(head)}\n`);
        await file.datasync();
      } finally {
        await file.close();
      }
    },
  };
}

/** Puts each head under a key of its own, such as `decisions/default/000000000001204-9f2c….json`. */
export function headObjects(objects: Pick<ObjectStore, 'put'>): HeadPlace {
  return {
    name: 'object store',
    async keep(head, signal) {
      const { log, of, sequence, hash } = head;
      const key = objectKey(log, of, `${String(sequence).padStart(15, '0')}-${hash.slice(0, 16)}.json`);
      const bytes = Buffer.from(`${JSON.stringify(head)}\n`);
      await objects.put(
        key,
        (async function* () {
          yield bytes;
        })(),
        bytes.length,
        signal,
      );
    },
  };
}

/** Announces heads to endpoints subscribed to `audit.head`: decisions to the tenant's, actions to those of `default`. */
export function headWebhooks(dispatcher: Pick<WebhookDispatcher, 'announce'>): HeadPlace {
  return { name: 'webhooks', keep: (head) => dispatcher.announce(auditHeadReached(head)) };
}

export interface AuditHeadsParts {
  readonly audit: Pick<AuditLog, 'add' | 'head'>;
  readonly attempts: Pick<AttemptRepository, 'decisionHeads'>;
  readonly places: readonly HeadPlace[];
  /** Whether this process is in charge of the data folder. */
  readonly mayKeep: () => Promise<boolean>;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Keeps heads of the audit logs elsewhere as they grow. Heads of decisions are also entries of the log of actions, so that decisions cannot be cut
 * off unseen by someone with the store's tables but without the data folder.
 */
export class AuditHeads {
  readonly #parts: AuditHeadsParts;
  readonly #stopping = new AbortController();
  readonly #finished: Promise<void>;
  /** Hash of the last stored head, by place and log. */
  readonly #kept = new Map<string, string>();

  constructor(parts: AuditHeadsParts) {
    this.#parts = parts;
    this.#finished = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the audit heads stop'));
    await this.#finished;
  }

  async #run(): Promise<void> {
    const { clock, everyMs, mayKeep, logger } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (await mayKeep()) await this.keep();
      } catch (error) {
        if (!signal.aborted) logger.warn({ error }, 'heads of the audit logs not read');
      }
      await sleep(clock, everyMs, signal).catch(() => {});
    }
  }

  /** Stores new heads; a failed place is retried the next time. @throws where heads cannot be read */
  async keep(): Promise<void> {
    const { audit, attempts, places, clock } = this.#parts;
    const at = new Date(clock.wallMs()).toISOString();
    const decisions = (await attempts.decisionHeads()).map(({ tenantId: of, sequence, hash }) => {
      return { log: 'decisions', of, sequence, hash, at } as const;
    });
    for (const head of decisions)
      await this.#once('actions', head, () =>
        audit.add({
          by: 'offhook',
          tenantId: head.of,
          action: HEAD_ACTION,
          subject: `${head.sequence}:${head.hash}`,
          outcome: 'done',
        }),
      );
    const actions = await audit.head();
    const heads: AuditHead[] = [...decisions];
    if (actions !== undefined)
      heads.push({ log: 'actions', of: actions.log, sequence: actions.sequence, hash: actions.hash, at });
    for (const place of places) {
      for (const head of heads) await this.#once(place.name, head, () => place.keep(head, this.#stopping.signal));
    }
  }

  async #once(place: string, { log, of, hash }: AuditHead, keep: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    const key = JSON.stringify([place, log, of]);
    if (signal.aborted || this.#kept.get(key) === hash) return;
    try {
      await keep();
      this.#kept.set(key, hash);
    } catch (error) {
      if (!signal.aborted) this.#parts.logger.warn({ place, log, of, error }, 'audit head not saved');
    }
  }
}

/**
 * Parses stored heads: lines of the file, contents of objects, or webhook bodies.
 * @returns undefined for an invalid line
 */
export function readHeads(text: string): AuditHead[] | undefined {
  const heads: AuditHead[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const given = parseJson(line);
    const read = z.union([auditHead, z.object({ data: auditHead }).transform(({ data }) => data)]).safeParse(given);
    if (!read.success) return undefined;
    heads.push(read.data);
  }
  return heads;
}
