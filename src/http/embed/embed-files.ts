import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import statics from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { RequestRefused } from '../problem.ts';

/** What the build makes of `src/console/embed`; the same from `dist` and from the sources. */
const BUILT = fileURLToPath(new URL('../../../dist/console/embed/', import.meta.url));
const FILES = {
  '/embed.js': 'embed.js',
  '/embed/microphone-worklet.js': 'microphone-worklet.js',
  '/embed/speaker-worklet.js': 'speaker-worklet.js',
} as const;
/** Sites load the button by a name that never changes; a new one reaches their visitors within minutes. */
const MAX_AGE = '5m';

/** `GET /embed.js` and the programs of its audio threads, for pages of any origin: what a page may do is decided where it calls. */
export async function embedFiles(app: FastifyInstance, folder = BUILT): Promise<void> {
  await app.register(statics, { serve: false, preCompressed: true, dotfiles: 'ignore' });
  for (const [path, name] of Object.entries(FILES))
    app.get(path, (_request, reply) => {
      if (!existsSync(join(folder, name))) throw new RequestRefused(404, 'The button is not built here: run npm run build.');
      reply.headers({
        // An audio worklet is fetched as pages fetch, whatever its address.
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      });
      return reply.sendFile(name, folder, { maxAge: MAX_AGE });
    });
}
