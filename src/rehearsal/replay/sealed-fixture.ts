import { z } from 'zod';
import { seal, unseal } from '../../records/privacy/seal.ts';

/**
 * Gives the key of a call's sound.
 * @param make whether to create a missing one
 * @returns undefined for an erased call, or one without a key
 */
export type FixtureKey = (tenantId: string, callId: string, make: boolean) => Promise<Uint8Array | undefined>;

/** The readable part of a sealed fixture: its owner and expiry. */
export const sealedHeader = z.object({
  format: z.literal('offhook-sealed-fixture'),
  version: z.literal(1),
  tenantId: z.string(),
  callId: z.string(),
  expiresAtMs: z.number().nullable(),
});

export type SealedHeader = z.infer<typeof sealedHeader>;

export const SEALED_SUFFIX = '.fixture.sealed';
const NEWLINE = 0x0a;

/** @param file a fixture in plain form. @returns a line of JSON, followed by the sealed bytes */
export function sealFixture(key: Uint8Array, about: Omit<SealedHeader, 'format' | 'version'>, file: Uint8Array): Uint8Array {
  const header = JSON.stringify({ format: 'offhook-sealed-fixture', version: 1, ...about } satisfies SealedHeader);
  return Buffer.concat([Buffer.from(`${header}\n`), seal(key, aboutOf(header), file)]);
}

/** @throws StoreKeyError for a wrong key, or a changed file, first line included */
export function openFixture(key: Uint8Array, sealed: Uint8Array): Uint8Array {
  const headerEnd = sealed.indexOf(NEWLINE);
  const header = Buffer.from(sealed.subarray(0, headerEnd)).toString('utf8');
  return unseal(key, aboutOf(header), sealed.subarray(headerEnd + 1));
}

/** A gzip file begins differently. */
export function isSealed(file: Uint8Array): boolean {
  return file[0] === '{'.charCodeAt(0);
}

function aboutOf(header: string): string {
  return JSON.stringify(['fixture', header]);
}
