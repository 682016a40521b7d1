import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { LiveCalls } from '../../call/admission/live-calls.ts';
import type { Settings } from '../../config/schema.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { BusinessEvents } from '../../observability/events.ts';
import type { SharedRates } from '../../hosts/shared-state/port.ts';
import { SharedRateLimit } from '../rate-limit.ts';
import type { BrowserCall, BrowserCalls } from '../browser-calls.ts';
import { RequestRefused } from '../problem.ts';
import { visitorOf } from '../public-addresses.ts';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileReader, sendDocument } from '../public-documents.ts';

export interface EmbedRoutesDeps {
  readonly settings: Settings['console']['embed'];
  readonly browserCalls: Pick<BrowserCalls, 'begin' | 'carrier'>;
  readonly live: { readonly calls: Pick<LiveCalls, 'list'> };
  readonly events: Pick<BusinessEvents, 'webhookRefused'>;
  readonly clock: Clock;
  /** Shared by all machines; this process only when absent. */
  readonly rates?: SharedRates | undefined;
}

const MOST_BODY_BYTES = 1_000;
/** Most call ids remembered, so that a repeated request begins one call. */
const MOST_IDS = 10_000;
/** How long a browser may cache that a site is allowed, in seconds. */
const PREFLIGHT_S = 600;

const callBody = z.strictObject({
  /** Made up by the page for this attempt. */
  id: z.uuid(),
  bot: z.string().min(1).max(100).optional(),
});

/**
 * `POST /embed/calls` with `{id, bot}`: a visitor of an allowed site begins a call. It uses no cookies or keys, so no visitor's rights are involved;
 * other sites are refused by `Origin`, and everyone is subject to a pace and a limit. Absent where no site is allowed.
 */
export function embedRoutes(app: FastifyInstance, deps: EmbedRoutesDeps): void {
  const { browserCalls, clock, events } = deps;
  const { origins: named, bots: allowedBots, callsPerMinute } = deps.settings;
  const origins = listOf(named);
  if (origins.length === 0) return;
  app.register(async (inner) => embedFiles(inner));
  const bots = listOf(allowedBots);
  const pace = new SharedRateLimit({ clock, rates: deps.rates }, 'embedded calls', {
    burst: callsPerMinute,
    perSecond: callsPerMinute / 60,
  });
  const ids = new Set<string>();
  const calls = new VisitorsCalls(deps.live.calls, deps.settings);

  const refuse = (request: FastifyRequest, reason: string, status: number, detail: string, retryAfterS?: number): never => {
    events.webhookRefused({ carrier: browserCalls.carrier, reason, status, address: request.ip });
    throw new RequestRefused(status, detail, retryAfterS === undefined ? {} : { retryAfterS });
  };
  /** Allows the page to read the answer, also a refusal. @returns the origin */
  const admitOrigin = (request: FastifyRequest, reply: FastifyReply): string => {
    reply.header('vary', 'origin').header('cache-control', 'no-store');
    const { origin } = request.headers;
    if (origin === undefined || !origins.includes(origin))
      return refuse(request, 'origin', 403, 'This site may not call here: console.embed.origins does not have its origin.');
    reply.header('access-control-allow-origin', origin);
    return origin;
  };

  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: MOST_BODY_BYTES },
    app.getDefaultJsonParser('error', 'error'),
  );
  app.options('/embed/calls', (request, reply) => {
    admitOrigin(request, reply);
    return reply
      .header('access-control-allow-methods', 'POST')
      .header('access-control-allow-headers', 'content-type')
      .header('access-control-max-age', PREFLIGHT_S)
      .code(204)
      .send();
  });
  app.post(
    '/embed/calls',
    // Before the body is read.
    { onRequest: async (request, reply) => void admitOrigin(request, reply) },
    async (request, reply): Promise<BrowserCall> => {
      const visitor = visitorOf(request.ip);
      const waitS = await pace.take(visitor);
      if (waitS > 0) refuse(request, 'pace', 429, 'Too many calls from this address: please wait a little.', waitS);
      const { data: body, error } = callBody.safeParse(request.body);
      if (body === undefined) throw new RequestRefused(400, z.prettifyError(error));
      if (body.bot !== undefined && !bots.includes(body.bot))
        throw new RequestRefused(422, 'bot: visitors may not call this one (console.embed.bots).');
      if (ids.has(body.id)) return refuse(request, 'repeated', 409, 'A call with this id was begun before.');
      ids.add(body.id);
      const [oldest] = ids;
      if (ids.size > MOST_IDS && oldest !== undefined) ids.delete(oldest);
      const caller = {
        carrierCallId: body.id,
        botName: body.bot ?? bots[0],
        from: new URL(admitOrigin(request, reply)).host,
        answerWithinMs: ANSWER_WITHIN_MS,
      };
      const call = await calls.begin(visitor, () => browserCalls.begin(caller, request.id));
      if (call === undefined) return refuse(request, 'full', 503, BUSY, BUSY_RETRY_S);
      reply.code(201);
      return call;
    },
  );
}

/** The page has the microphone before it asks for the call, and opens its socket at once. */
const ANSWER_WITHIN_MS = 10_000;
/** Visitors are not told which limit was reached. */
const BUSY = 'Nobody can take the call right now: please try again in a moment.';
const BUSY_RETRY_S = 30;

/** Live calls of visitors; limited in total and per visitor. */
class VisitorsCalls {
  readonly #live: Pick<LiveCalls, 'list'>;
  readonly #most: Pick<EmbedRoutesDeps['settings'], 'maximum' | 'maximumPerAddress'>;
  /** The visitor of each call, by its id; by a symbol while it begins. */
  readonly #own = new Map<string | symbol, string>();

  constructor(live: Pick<LiveCalls, 'list'>, most: Pick<EmbedRoutesDeps['settings'], 'maximum' | 'maximumPerAddress'>) {
    this.#live = live;
    this.#most = most;
  }

  /** @returns undefined when a limit is reached, or the gateway takes no call */
  async begin(visitor: string, begin: () => Promise<BrowserCall>): Promise<BrowserCall | undefined> {
    const known = [...this.#own.keys()];
    const place = Symbol('a place');
    this.#own.set(place, visitor);
    try {
      const alive = new Set((await this.#live.list()).map(({ id }) => id));
      for (const id of known) if (typeof id === 'string' && !alive.has(id)) this.#own.delete(id);
      const ofVisitor = [...this.#own.values()].filter((each) => each === visitor).length;
      if (this.#own.size > this.#most.maximum || ofVisitor > this.#most.maximumPerAddress) return undefined;
      const call = await begin();
      this.#own.set(call.callId, visitor);
      return call;
    } catch (error) {
      if (error instanceof RequestRefused && error.status === 503) return undefined;
      throw error;
    } finally {
      this.#own.delete(place);
    }
  }
}

function listOf(text = ''): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim().replace(/\/$/u, ''))
    .filter((part) => part !== '');
}

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
function embedFiles(app: FastifyInstance, folder = BUILT): void {
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
