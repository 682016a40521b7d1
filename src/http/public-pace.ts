import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../kernel/clock.ts';
import type { Pace } from '../hosts/shared-state/port.ts';
import { RateLimit } from './api/rate-limit.ts';
import { sendProblem } from './problem.ts';
import { visitorOf } from './public-addresses.ts';

/** Of pages and their files: a page asks for some thirty at once, and an office has one address. */
export const PAGES_PACE: Pace = { burst: 2000, perSecond: 100 };
/** Of the description of the API, which is large. */
export const DOCUMENTS_PACE: Pace = { burst: 60, perSecond: 5 };
/** Of readiness and metrics, which machines ask for: apart from pages, so that no visitor takes a load balancer's share. */
export const STATE_PACE: Pace = { burst: 600, perSecond: 50 };

/** A hook that paces each address, for routes without a key. */
export function publicPace(clock: Clock, pace: Pace) {
  const limit = new RateLimit(clock, pace);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const waitS = limit.take(visitorOf(request.ip));
    if (waitS === 0) return undefined;
    return sendProblem(request, reply.header('retry-after', waitS), 429, 'Too many requests.');
  };
}
