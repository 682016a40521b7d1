import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { RequestRefused } from '../problem.ts';
import { fileReader, sendDocument } from '../public-documents.ts';

/** Build output of `src/console/embed`; the same path from `dist` and from the sources. */
const BUILT = fileURLToPath(new URL('../../../dist/console/embed/', import.meta.url));
const FILES = {
  '/embed.js': 'embed.js',
  '/embed/microphone-worklet.js': 'microphone-worklet.js',
  '/embed/speaker-worklet.js': 'speaker-worklet.js',
} as const;
/** Sites load the button under a fixed name; a new version reaches visitors within minutes. */
const CACHED = 'public, max-age=300';

/** `GET /embed.js` and its audio worklets, for pages of any origin: access is checked when a page calls. */
export function embedFiles(app: FastifyInstance, folder = BUILT): void {
  const read = fileReader();
  for (const [path, name] of Object.entries(FILES))
    app.get(path, async (request, reply) => {
      const file = await read(join(folder, name));
      if (file === undefined) throw new RequestRefused(404, 'The button is not built here: run npm run build.');
      reply.headers({
        // Audio worklets are fetched with CORS, whatever their address.
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      });
      return sendDocument(request, reply, file, CACHED);
    });
}
