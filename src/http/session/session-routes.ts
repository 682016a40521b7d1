import { readFileSync } from 'node:fs';
import cookies from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { errorText } from '../../kernel/errors.ts';
import { USER, GUESSES, type PasswordGuesses } from '../admin/admin-login.ts';
import { SharedRateLimit } from '../rate-limit.ts';
import { RequestRefused, sendProblem } from '../problem.ts';
import { visitorOf } from '../public-addresses.ts';
import type { Session } from './session-views.ts';
import type { ConsoleUser } from './console-key.ts';
import { begunSignIn, OpenIdError, type OpenIdSignIn } from './openid.ts';
import { type Sessions, type SessionsParts, type SessionUser, type SignInWay, TENANT } from './sessions.ts';

const MOST_BODY_BYTES = 8_192;
const passwordBody = z.strictObject({ password: z.string().min(1).max(1_000) });
const linkBody = z.strictObject({ code: z.string().min(1).max(1_000) });
const NOT_SAFE =
  'People sign in at the https address of publicUrl and at localhost alone, so that passwords cannot be read on the way.';
const LINK_SPENT = 'This link was used before, or is too old. For a new one, run: offhook console (where the gateway runs).';
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')));

/** `/api/session`: the signed-in user, signing in and out. In a scope of its own, since its bodies are small and JSON. */
export function sessionRoutes(
  app: FastifyInstance,
  sessions: Sessions,
  parts: SessionsParts & { readonly passwords: PasswordGuesses },
): void {
  const { passwords, links, members, password, openid, clock, logger } = parts;
  const linkGuesses = new SharedRateLimit(parts, 'sign-in', GUESSES);
  const ways = [
    ...(password === undefined ? [] : (['password'] as const)),
    ...(openid === undefined ? [] : (['openid'] as const)),
    'link' as const,
  ];
  const view = (user: SessionUser | undefined): Session => ({
    user: user === undefined ? null : { name: user.name, role: user.role },
    scopes: user?.principal.scopes ?? [],
    csrf: user?.csrf.reveal() ?? null,
    ways,
    version,
  });
  app.register(cookies);
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: MOST_BODY_BYTES },
    app.getDefaultJsonParser('error', 'error'),
  );
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    if (!sessions.isSafe(request)) return sendProblem(request, reply, 403, NOT_SAFE);
    if (sessions.isForeign(request)) return sendProblem(request, reply, 403, 'Another site sent this request.');
  });

  const judged = async (
    request: FastifyRequest,
    way: SignInWay,
    guess: Awaited<ReturnType<typeof passwords.guess<ConsoleUser>>>,
    why: string,
  ): Promise<ConsoleUser> => {
    if (!('found' in guess)) throw new RequestRefused(429, 'Too many wrong tries. Wait a little.', { retryAfterS: guess.waitS });
    if (guess.found !== undefined) return guess.found;
    logger.warn({ requestId: request.id, way, pii: { address: request.ip } }, 'console sign-in refused');
    await sessions.note('sign-in', way, 'refused');
    throw new RequestRefused(401, why);
  };

  /** The user of a link as they are now; undefined for a member who was removed. */
  const now = async (user: ConsoleUser | undefined): Promise<ConsoleUser | undefined> => {
    if (user?.member === undefined) return user;
    const member = await members?.get(TENANT, user.member);
    return member && { name: member.name, role: member.role };
  };

  app.get('/api/session', (request) => sessions.find(request).then(view));

  app.post('/api/session', async (request, reply) => {
    const body = parsed(passwordBody, request.body);
    if (password === undefined) throw new RequestRefused(403, 'No password is set here: OFFHOOK_ADMIN_PASSWORD sets one.');
    const check = (): ConsoleUser | undefined => (password.equals(body.password) ? { name: 'admin', role: 'admin' } : undefined);
    const guess = await passwords.guess({ account: USER, address: visitorOf(request.ip) }, check);
    const user = await judged(request, 'password', guess, 'The password is wrong.');
    return view(await sessions.signIn(request, reply, user, 'password'));
  });

  app.post('/api/session/link', async (request, reply) => {
    const { code } = parsed(linkBody, request.body);
    const guess = await linkGuesses.guess(`link ${visitorOf(request.ip)}`, async () =>
      now(await links.use(code, clock.wallMs())),
    );
    const user = await judged(request, 'link', guess, LINK_SPENT);
    return view(await sessions.signIn(request, reply, user, 'link'));
  });

  if (openid !== undefined) {
    openIdRoutes(app, sessions, parts, openid);
    app.register(async (inner) => backChannelLogout(inner, sessions, logger, openid));
  }
  app.addHook('onClose', async () => sessions.stop());

  for (const [path, end] of [
    ['/api/session', 'signOut'],
    ['/api/session/everywhere', 'signOutEverywhere'],
  ] as const)
    app.delete(path, async (request, reply) => {
      const user = await sessions.find(request);
      if (user === undefined) return view(undefined);
      const refused = sessions.refusal(request, user);
      if (refused !== undefined) throw new RequestRefused(403, refused);
      await sessions[end](request, reply, user);
      return view(undefined);
    });
}

/** Cookie for the way to the issuer and back. */
const BEGUN_COOKIE = 'offhook_openid';
const OPENID_PATH = '/api/session/openid';
const BEGUN_LIFE_MS = 10 * 60_000;

/** Sends the browser to the issuer, and signs the user in on its return. Every failure ends at the sign-in page. */
function openIdRoutes(
  app: FastifyInstance,
  sessions: Sessions,
  { key, clock, logger }: SessionsParts,
  openid: OpenIdSignIn,
): void {
  const failed = async (request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<FastifyReply> => {
    if (!(error instanceof OpenIdError)) throw error;
    logger.warn({ requestId: request.id, error, reason: errorText(error.cause) }, 'console sign-in refused');
    await sessions.note('sign-in', 'openid', 'refused');
    return reply.redirect(`/console#refused=${error.problem}`);
  };

  app.get(OPENID_PATH, async (request, reply) => {
    try {
      const { url, begun } = await openid.begin(`${sessions.ownAddress(request)}${OPENID_PATH}/callback`);
      const sealed = await key.seal('openid', begun, { nowMs: clock.wallMs(), lifeMs: BEGUN_LIFE_MS });
      sessions.setCookie(request, reply, BEGUN_COOKIE, sealed, BEGUN_LIFE_MS / 1000, OPENID_PATH);
      return reply.redirect(url);
    } catch (error) {
      return failed(request, reply, error);
    }
  });

  app.get(`${OPENID_PATH}/callback`, async (request, reply) => {
    const sealed = request.cookies[BEGUN_COOKIE];
    sessions.setCookie(request, reply, BEGUN_COOKIE, '', 0, OPENID_PATH);
    const opened = sealed === undefined ? undefined : await key.open('openid', sealed, clock.wallMs());
    const begun = begunSignIn.safeParse(opened);
    try {
      // Begun by another browser, too long ago, or already finished.
      if (opened === undefined || !begun.success || !(await key.spend(opened, clock.wallMs()))) throw new OpenIdError('refused');
      const { user, grant } = await openid.finish(request.url.split('?')[1] ?? '', begun.data);
      await sessions.signIn(request, reply, user, 'openid', grant);
      return await reply.redirect('/console');
    } catch (error) {
      return failed(request, reply, error);
    }
  });
}

/** Accepts the issuer's report of a sign-out (OpenID Connect Back-Channel Logout 1.0). */
function backChannelLogout(
  app: FastifyInstance,
  sessions: Sessions,
  logger: SessionsParts['logger'],
  openid: OpenIdSignIn,
): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 2 * MOST_BODY_BYTES },
    (_request, body, done) => done(null, new URLSearchParams(String(body)).get('logout_token') ?? ''),
  );
  app.post(`${OPENID_PATH}/logout`, async (request, reply) => {
    try {
      const token = await openid.logoutOf(parsed(z.string().min(1), request.body));
      if (await sessions.signedOutAtIssuer(token)) return reply.code(200).send();
      throw new RequestRefused(400, 'This logout token was used before.');
    } catch (error) {
      if (!(error instanceof OpenIdError)) throw error;
      logger.warn({ requestId: request.id, reason: errorText(error.cause) }, 'logout by the OpenID issuer refused');
      throw new RequestRefused(400, 'The logout token is not one of the issuer for this client.');
    }
  });
}

/** @throws RequestRefused 400 saying what is wrong, without quoting the body */
function parsed<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(body);
  if (!success) throw new RequestRefused(400, z.prettifyError(error));
  return data;
}
