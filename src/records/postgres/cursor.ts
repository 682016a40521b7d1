import { z } from 'zod';
import { errorText } from '../../kernel/errors.ts';
import { StoreRecordError } from '../errors.ts';
import { isStorable } from '../storable.ts';

const MAX_PAGE = 200;

/** Position of a page's end: time and the rest of its last row's key. */
const part = z.string().refine(isStorable);
const cursor = z.tuple([z.int(), part], part);

export type Cursor = z.infer<typeof cursor>;

export function writeCursor(place: Cursor): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** @throws StoreRecordError for an invalid cursor */
export function readCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined;
  try {
    return cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (error) {
    throw new StoreRecordError(`not a place in a list: ${errorText(error)}`);
  }
}

/** @throws RangeError */
export function checkLimit(limit: number, most = MAX_PAGE): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > most) throw new RangeError(`limit is 1 to ${most}`);
}
