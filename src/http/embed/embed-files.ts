import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { RequestRefused } from '../problem.ts';
import { fileReader, sendDocument } from '../public-documents.ts';

/** What the build makes of `src/console/embed`; the same from `dist` and from the sources. */
const BUILT = fileURLToPath(new URL('../../../dist/console/embed/', import.meta.url));
const FILES = {
  '/embed.js': 'embed.js',
  '/embed/microphone-worklet.js': 'microphone-worklet.js',
  '/embed/speaker-worklet.js': 'speaker-worklet.js',
} as const;
/** Sites load the button by a name that never changes; a new one reaches their visitors within minutes. */
const CACHED = 'public, max-age=300';

/** `GET /embed.js` and the programs of its audio threads, for pages of any origin: what a page may do is decided where it calls. */
export function embedFiles(app: FastifyInstance, folder = BUILT): void {
  const read = fileReader();
  for (const [path, name] of Object.entries(FILES))
    app.get(path, async (request, reply) => {
      const file = await read(join(folder, name));
      if (file === undefined) throw new RequestRefused(404, 'The button is not built here: run npm run build.');
      reply.headers({
        // An audio worklet is fetched as pages fetch, whatever its address.
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      });
      return sendDocument(request, reply, file, CACHED);
    });
}
