import { parse } from 'node:querystring';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestRefused } from './problem.ts';

/** Carriers send some thirty fields. */
const MOST_FIELDS = 200;

/**
 * Reads bodies of `application/x-www-form-urlencoded`, in this scope alone; a field that comes twice is a list. One with too many
 * fields is refused with 400 before it is parsed: what is done with fields takes much longer than to count them.
 * @param onRefused told of such a request
 */
export function takeForms(
  app: FastifyInstance,
  { bodyLimit, onRefused }: { readonly bodyLimit: number; readonly onRefused: (request: FastifyRequest) => void },
): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit }, (request, body, done) => {
    const text = String(body);
    if (hasMoreFields(text, MOST_FIELDS)) {
      onRefused(request);
      done(new RequestRefused(400, `The form has more than ${MOST_FIELDS} fields.`));
    } else done(null, parse(text, '&', '=', { maxKeys: MOST_FIELDS }));
  });
}

function hasMoreFields(text: string, most: number): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}
