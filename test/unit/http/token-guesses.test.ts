import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fastify, type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiGate } from '../../../src/http/api/api-gate.ts';
import { ApiKeys, type Principal } from '../../../src/http/api/system/api-keys.ts';
import { useProblems } from '../../../src/http/problem.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('guessing tokens', () => {
  let clock: ManualClock;
  let app: FastifyInstance;
  let checked = 0;

  beforeEach(async () => {
    clock = new ManualClock();
    checked = 0;
    const tokens = {
      verify: async (token: string): Promise<Principal | { readonly refused: string }> => {
        checked += 1;
        if (!token.endsWith('.good')) return { refused: 'its signature is wrong' };
        return { id: `jwt ${token}`, tenantId: 'acme', scopes: ['calls:read'] };
      },
    };
    const gate = new ApiGate({ keys: new ApiKeys(join(tmpdir(), 'no-such-folder', 'keys.json')), clock, tokens });
    app = fastify();
    useProblems(app, silentLogger);
    app.get('/who', { onRequest: (request, reply) => gate.admit(request, reply, 'calls:read') }, () => 'in');
    await app.ready();
  });
  afterEach(() => app.close());

  const who = async (token: string, remoteAddress = '192.0.2.1'): Promise<number> =>
    (await app.inject({ url: '/who', remoteAddress, headers: { authorization: `Bearer ${token}` } })).statusCode;
  const guess = async (count: number, address?: string): Promise<number[]> => {
    const answers: number[] = [];
    for (let at = 0; at < count; at += 1) answers.push(await who(`a.b${at}.bad`, address));
    return answers;
  };

  it('is answered with 429 after 60 tries from one address, where valid tokens still work', async () => {
    expect(await who('a.known.good')).toBe(200);
    expect(await guess(61)).toEqual([...Array.from({ length: 60 }, () => 401), 429]);
    expect([await who('a.known.good'), await who('a.new.good')]).toEqual([200, 200]);
    expect(await who('a.b.bad', '192.0.2.2')).toBe(401);
  });

  it('makes no more than so many signatures be checked, from one address and from many', async () => {
    expect(await who('a.known.good')).toBe(200);
    await guess(400);
    // 60 guesses, and as many as all guessers together have.
    expect(checked).toBe(1 + 60 + 100);
    expect(await who('a.new.good')).toBe(429);
    expect([await who('a.known.good'), await who('a.other.good', '192.0.2.2')]).toEqual([200, 200]);
    clock.advance(1000);
    expect(await who('a.new.good')).toBe(200);
    checked = 0;
    for (let host = 10; host < 20; host += 1) await guess(50, `198.51.100.${host}`);
    expect(checked).toBeLessThanOrEqual(400);
    expect(await who('a.known.good', '198.51.100.10')).toBe(200);
  });

  it('is no way round the pace of a token that is believed', async () => {
    const answers: number[] = [];
    for (let at = 0; at < 62; at += 1) answers.push(await who('a.known.good'));
    expect([answers.filter((status) => status === 200).length, answers.at(-1), checked]).toEqual([60, 429, 60]);
    expect(await who('a.b.bad')).toBe(401);
  });
});
