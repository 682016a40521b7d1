import { createHash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { KeptAnswer } from '../../records/idempotency.ts';
import type { Store } from '../../records/port.ts';
import { RequestRefused } from '../problem.ts';
import type { Principal } from './system/api-keys.ts';

/** Life of a key. */
export const KEY_LIFE_MS = 86_400_000;
/** Time after which an unanswered request counts as crashed and may be repeated. */
const ABANDONED_MS = 900_000;
const MOST_CHARACTERS = 100;

export interface KeyedRequest {
  /** The client: the same key text from another client is a different key. */
  readonly by: Principal;
  /** The header `Idempotency-Key`. */
  readonly key: string | undefined;
  readonly method: string;
  readonly url: string;
  /** JSON, with a file replaced by its hash. */
  readonly body: unknown;
  /** The call it concerns, if any. */
  readonly callId: string | undefined;
  /** Whether an unanswered request may be repeated at once. */
  readonly servesAgain: boolean;
  /** The part of the answer for a repeat: without personal values, since it outlives the request. */
  readonly keptOf: (answer: unknown) => unknown;
}

/**
 * Serves a changing request once for each key: a repeat gets the same answer, for a day. Failures are not stored, so that they may be retried.
 * @throws RequestRefused 400 for an invalid key, 409 while the first is being served, 422 for a key of another request, or of the same with other
 * scopes
 */
export async function servedOnce(
  { store, clock }: { readonly store: Pick<Store, 'idempotency'>; readonly clock: Clock },
  { by, key: given, method, url, body, callId, servesAgain, keptOf }: KeyedRequest,
  serve: () => Promise<KeptAnswer>,
): Promise<KeptAnswer & { readonly isReplay: boolean }> {
  if (given === undefined) return { ...(await serve()), isReplay: false };
  if (!/^[\x21-\x7e]+$/u.test(given) || given.length > MOST_CHARACTERS)
    throw new RequestRefused(400, `An Idempotency-Key has 1 to ${MOST_CHARACTERS} printable characters.`);
  const { tenantId } = by;
  const key = hashOf([by.id, given]);
  const fingerprint = hashOf([method, url, body, [...by.scopes].sort()]);
  const atMs = clock.wallMs();
  const times = { atMs, forgetBeforeMs: atMs - KEY_LIFE_MS, abandonedBeforeMs: servesAgain ? atMs + 1 : atMs - ABANDONED_MS };
  const claim = await store.idempotency.claim(tenantId, key, { callId, fingerprint, ...times });
  switch (claim.kind) {
    case 'answered':
      return { ...claim.kept, isReplay: true };
    case 'busy':
      throw new RequestRefused(409, 'The same request is being served: send it again in a while.');
    case 'taken':
      throw new RequestRefused(
        422,
        'This Idempotency-Key was used for another request, or with other scopes: another one needs a key of its own.',
      );
    case 'ours':
      break;
  }
  let served: KeptAnswer;
  try {
    served = await serve();
  } catch (error) {
    // A failed request may be retried; if the release fails, the key expires as abandoned.
    await store.idempotency.release(tenantId, key).catch(() => undefined);
    throw error;
  }
  // The request was served even if its answer cannot be stored: the claimed key blocks a repeat, so nothing is done twice.
  await store.idempotency.keep(tenantId, key, { ...served, answer: keptOf(served.answer) }).catch(() => undefined);
  return { ...served, isReplay: false };
}

function hashOf(subject: unknown): string {
  return createHash('sha256').update(JSON.stringify(subject)).digest('hex');
}
