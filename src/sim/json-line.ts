import { parseJson } from '../kernel/json.ts';
import { CarrierLine } from './carrier-line.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A media stream of JSON messages with base64 inside. A carrier adds what it does with one (`told`). */
export abstract class JsonLine extends CarrierLine {
  protected abstract told(message: Fields): void;

  protected override received(data: Buffer, isBinary: boolean): void {
    const message = isBinary ? undefined : parseJson(data.toString('utf8'));
    if (isFields(message)) this.told(message);
    else this.complain(isBinary ? 'a binary message' : 'a message that is no JSON object');
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without fields where it is no object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function base64(payload: Uint8Array): string {
  return Buffer.from(payload).toString('base64');
}
