import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RequestRefused } from './problem.ts';

export interface SecretRoutesDeps {
  /**
   * Gives out a value that a caller keyed, once.
   * @param botSecret the `secretEnv` of the bot that was given the token
   * @returns undefined where there is no such value, or it is another bot's
   */
  readonly redeem: (botSecret: string, token: string) => string | undefined | Promise<string | undefined>;
}

const MOST_BODY_BYTES = 1_000;
const body = z.object({ token: z.string().min(1).max(100) });

/** `POST /secrets/redeem` with `{token}` and `authorization: Bearer` and the bot's secret, answered with `{value}` and kept by no cache. */
export function secretRoutes(app: FastifyInstance, deps: SecretRoutesDeps): void {
  // Carriers send forms alone; JSON is read here only.
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: MOST_BODY_BYTES },
    app.getDefaultJsonParser('error', 'error'),
  );
  app.post('/secrets/redeem', async (request, reply) => {
    const [, secret] = /^Bearer (.+)$/u.exec(request.headers.authorization ?? '') ?? [];
    if (secret === undefined) throw new RequestRefused(401, 'The header authorization must be Bearer and the secret of the bot.');
    const parsed = body.safeParse(request.body);
    if (!parsed.success) throw new RequestRefused(400, 'The body must be JSON with the token that the bot was given.');
    const value = await deps.redeem(secret, parsed.data.token);
    if (value === undefined)
      throw new RequestRefused(404, 'There is no value for this token and this bot, or it was fetched before.');
    return reply.header('cache-control', 'no-store').send({ value });
  });
}
