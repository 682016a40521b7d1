import { randomUUID } from 'node:crypto';

/** A new id with a readable prefix, for example `call_0f8c…` (32 hex digits, 122 random bits). */
export function newId(prefix: 'call' | 'leg' | 'att' | 'job' | 'key' | 'req' | 'rel'): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`;
}

/** What every id of a call looks like, in whichever way it was made: it can stand in the name of a file. */
export const CALL_ID = /^[\w-]{1,200}$/u;
