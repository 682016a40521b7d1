import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendProblem } from '../problem.ts';
import { isSafeHost } from '../public-addresses.ts';
import { fileReader, sendDocument } from '../public-documents.ts';

/** Build output of `src/console`; the same path from `dist` and from the sources. */
const BUILT = fileURLToPath(new URL('../../../dist/console/', import.meta.url));
const ASSET = /^\w[\w.-]*$/u;
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};
/** Browsers honour these on pages only, not on their files. */
const PAGE_HEADERS = {
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'microphone=(self), speaker-selection=(self), camera=(), geolocation=(), display-capture=()',
  'cross-origin-opener-policy': 'same-origin',
};

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "media-src 'self' blob:",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * The console's page at `/console` and below: every path is the same page, which routes itself.
 * @param folder with `index.html` and `assets`; the build's when absent
 */
export function consolePage(
  app: FastifyInstance,
  { publicUrl, folder = BUILT }: { readonly publicUrl: string | undefined; readonly folder?: string },
): void {
  const read = fileReader();
  app.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS));
  app.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
    const { name } = request.params;
    const file = ASSET.test(name) ? await read(join(folder, 'assets', name)) : undefined;
    if (file === undefined) return sendProblem(request, reply, 404);
    // File names change with their content.
    return sendDocument(request, reply, file, 'public, max-age=31536000, immutable');
  });
  for (const path of ['/console', '/console/*'])
    app.get(path, async (request, reply) => {
      if (!isSafeHost(request.headers.host, publicUrl))
        return sendNotice(reply, 403, 'The console is not at this address', NOT_SAFE);
      const page = await read(join(folder, 'index.html'));
      if (page === undefined) return sendNotice(reply, 503, 'The console is not built', NOT_BUILT);
      const nonce = randomBytes(16).toString('base64');
      return sendPage(reply, policy(nonce), page.plain.toString('utf8').replace('%NONCE%', nonce));
    });
}

const NOT_SAFE = `<p>It is shown at the https address of <code>publicUrl</code> and on the gateway's own machine alone, so that nobody reads
a password on the way. From another machine, an SSH tunnel does:</p><pre>ssh -L 8080:127.0.0.1:8080 &lt;the gateway's machine&gt;</pre>
<p>Then open <code>http://127.0.0.1:8080/console</code>.</p>`;
const NOT_BUILT = `<p>This installation lacks <code>dist/console</code>. Run <code>npm install &amp;&amp; npm run build</code> in Offhook's
folder and reload this page. Calls and the API are not affected.</p>`;

/** A page without scripts and styles. */
function sendNotice(reply: FastifyReply, status: number, title: string, html: string): FastifyReply {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;
  const page = `<!doctype html><html lang="en"><head>${head}</head><body><main><h1>${title}</h1>${html}</main></body></html>`;
  return sendPage(reply.code(status), "default-src 'none'; base-uri 'none'; frame-ancestors 'none'", page);
}

function sendPage(reply: FastifyReply, contentPolicy: string, html: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .headers({ ...PAGE_HEADERS, 'content-security-policy': contentPolicy, 'cache-control': 'no-store' })
    .send(html);
}
