import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Secret } from '../../config/secrets.ts';
import { WEBHOOK_EVENTS, type WebhookEndpoint } from '../../config/webhook-endpoints.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { FileLock } from '../../kernel/file-lock.ts';

/** File name in the data folder: endpoints that were added over the API, with their secrets. */
export const WEBHOOKS_FILE = 'webhook-endpoints.json';
/** Most of them, over all tenants. */
const MOST_ADDED = 100;

const kept = z.object({
  name: z.string(),
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  numbers: z.enum(['masked', 'full']),
  words: z.boolean(),
  tenantId: z.string(),
  secret: z.string(),
});
const book = z.object({ version: z.literal(1), endpoints: z.array(kept) });

/** An endpoint that is to be added: a public https address. */
export type NewEndpoint = Pick<WebhookEndpoint, 'name' | 'url' | 'events' | 'numbers' | 'words' | 'tenantId'>;

/** The file of added webhook endpoints is damaged, or cannot be changed, or it refuses an endpoint. */
export class WebhookBookError extends OffhookError {
  readonly code = 'OFFHOOK_WEBHOOK_BOOK';
  readonly retryable = false;
}

/** Every webhook endpoint: those of the settings, and those that were added over the API, in a file that all processes of a data folder read. */
export class WebhookBook {
  readonly #configured: readonly WebhookEndpoint[];
  readonly #path: string;
  #readAt = '';
  #added: readonly WebhookEndpoint[] = [];

  /** @param path of the file of added endpoints */
  constructor(configured: readonly WebhookEndpoint[], path: string) {
    this.#configured = configured;
    this.#path = path;
  }

  /** Endpoints of the settings first. @throws WebhookBookError */
  get all(): readonly WebhookEndpoint[] {
    this.#read();
    return this.#added.length === 0 ? this.#configured : [...this.#configured, ...this.#added];
  }

  /** Whether an endpoint is in the settings, and changed there alone. */
  isConfigured({ name, tenantId }: Pick<WebhookEndpoint, 'name' | 'tenantId'>): boolean {
    return this.#configured.some((each) => each.name === name && each.tenantId === tenantId);
  }

  /** @returns the signing secret, which is shown once @throws WebhookBookError */
  add(endpoint: NewEndpoint): string {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    this.#change((added) => {
      if ([...this.#configured, ...added].some(({ name, tenantId }) => name === endpoint.name && tenantId === endpoint.tenantId))
        throw new WebhookBookError(`there is an endpoint of the name ${endpoint.name}`);
      if (added.length >= MOST_ADDED)
        throw new WebhookBookError(`there are ${MOST_ADDED} endpoints: put further ones into the settings`);
      return [...added, { ...endpoint, secretEnv: '', allowPrivate: false, secret: new Secret(secret) }];
    });
    return secret;
  }

  /** @returns false for one that was not added here @throws WebhookBookError */
  remove(tenantId: string, name: string): boolean {
    let isKnown = false;
    this.#change((added) => {
      const left = added.filter((each) => each.name !== name || each.tenantId !== tenantId);
      isKnown = left.length < added.length;
      return left;
    });
    return isKnown;
  }

  #read(): void {
    const facts = statSync(this.#path, { throwIfNoEntry: false });
    const version = facts === undefined ? '' : `${facts.mtimeMs} ${facts.size} ${facts.ino}`;
    if (version === this.#readAt) return;
    try {
      const { endpoints } = facts === undefined ? { endpoints: [] } : book.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
      this.#added = endpoints.map((each) => ({ ...each, secretEnv: '', allowPrivate: false, secret: new Secret(each.secret) }));
      this.#readAt = version;
    } catch (error) {
      throw new WebhookBookError(`${this.#path} cannot be read: ${errorText(error)}`, { cause: error });
    }
  }

  #change(change: (added: readonly WebhookEndpoint[]) => readonly WebhookEndpoint[]): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    const lock = FileLock.take(`${this.#path}.lock`);
    if (lock === undefined) throw new WebhookBookError(`other processes have been changing ${this.#path} for too long`);
    const temporary = `${this.#path}.${randomUUID()}.tmp`;
    try {
      this.#read();
      const endpoints = change(this.#added).map(({ name, url, events, numbers, words, tenantId, secret }) => {
        return { name, url, events, numbers, words, tenantId, secret: secret.reveal() };
      });
      writeFileSync(temporary, `${JSON.stringify({ version: 1, endpoints }, null, 2)}\n`, { mode: 0o600, flush: true });
      renameSync(temporary, this.#path);
    } finally {
      rmSync(temporary, { force: true });
      lock.release();
    }
  }
}
