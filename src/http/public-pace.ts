import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../kernel/clock.ts';
import type { Pace } from '../hosts/shared-state/port.ts';
import { RateLimit } from './api/rate-limit.ts';
import { sendProblem } from './problem.ts';
import { visitorOf } from './public-addresses.ts';

/** Pace for pages, their files and documents: a page makes some sixty requests at once, and an office shares one address. */
export const PAGES_PACE: Pace = { burst: 400, perSecond: 40 };
/** Pace for readiness and metrics; separate, so that visitors do not use up a load balancer's share. */
export const STATE_PACE: Pace = { burst: 60, perSecond: 10 };

/** A hook that paces each address, for routes without a key. */
export function publicPace(clock: Clock, pace: Pace) {
  const limit = new RateLimit(clock, pace);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const waitS = limit.take(visitorOf(request.ip));
    if (waitS === 0) return undefined;
    return sendProblem(request, reply.header('retry-after', waitS), 429, 'Too many requests.');
  };
}
