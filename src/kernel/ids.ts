import { randomUUID } from 'node:crypto';

/** A new id with a readable prefix, for example `call_0f8c…` (32 hex digits, 122 random bits). */
export function newId(
  prefix: 'call' | 'chat' | 'leg' | 'att' | 'job' | 'key' | 'req' | 'rel' | 'cmp' | 'lis' | 'mem' | 'dir' | 'cmt' | 'alert',
): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`;
}

/** The form of every call id, which is safe in a file name. */
export const CALL_ID = /^[\w-]{1,200}$/u;
