import { randomUUID } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';
import { signedHeaders } from '../../dialog/wire.ts';
import { systemClock } from '../../kernel/clock.ts';
import { type Check, failed, PASSED } from './check.ts';

/** How a request is signed. */
export type Signing = 'right' | 'wrong' | 'missing' | 'old';

/** Older timestamps are to be refused (Standard Webhooks specification, "Verifying the timestamp"). */
const OLD_MS = 10 * 60_000;

/** The `webhook-id` of a request that no other check has. */
export function sampleMessageId(): string {
  return `msg_${randomUUID()}`;
}

/** The headers that sign a request, rightly or not; none without a secret. */
export function signature(
  secret: Secret | undefined,
  signing: Signing,
  body: string,
  id = sampleMessageId(),
): Record<string, string> {
  if (secret === undefined || signing === 'missing') return {};
  const now = systemClock.wallMs();
  const signed = signing === 'wrong' ? `${body} ` : body;
  return { ...signedHeaders(secret.reveal(), id, signing === 'old' ? now - OLD_MS : now, signed) };
}

/**
 * Checks that requests with a wrong signature are refused.
 * @param what is sent, for people @param danger of a server that takes them @param send answers with the status
 */
export function signatureChecks(
  { secret }: { readonly secret: Secret | undefined },
  what: string,
  danger: string,
  send: (signing: Signing) => Promise<number>,
): Check[] {
  const faults = {
    wrong: 'signature belongs to another body',
    missing: 'signature is missing',
    old: 'timestamp is ten minutes old',
  } as const;
  return (['wrong', 'missing', 'old'] as const).map((signing) => ({
    name: `a signature that is ${signing}`,
    rule: `a ${what} whose ${faults[signing]} is refused with 4xx`,
    run: async () => {
      if (secret === undefined) return { is: 'skipped', got: 'no secret was given (--secret-env NAME)' };
      const status = await send(signing);
      return status >= 400 && status < 500 ? PASSED : failed(`it was answered with ${status}: ${danger}`);
    },
  }));
}
