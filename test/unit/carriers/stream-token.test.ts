import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { StreamTokens } from '../../../src/carriers/stream-token.ts';
import { MemoryHub } from '../../support/memory-hub.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const key = new Uint8Array(32).fill(7);
const grant = { carrier: 'twilio', carrierCallId: 'CA1', callId: 'call_1', attachmentId: 'att_1' };

function setUp() {
  const clock = new ManualClock();
  return { clock, tokens: new StreamTokens({ key, clock }) };
}

describe('StreamTokens', () => {
  it('gives back what a token was minted for, once', async () => {
    const { tokens } = setUp();
    const token = await tokens.mint(grant, 60_000);
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await tokens.claim(token, 'twilio')).toEqual({ grant });
    expect(await tokens.claim(token, 'twilio')).toEqual({ refused: 'replayed' });
  });

  it('grants one of many claims at once', async () => {
    const { tokens } = setUp();
    const token = await tokens.mint(grant, 60_000);
    const results = await Promise.all(Array.from({ length: 20 }, () => tokens.claim(token, 'twilio')));
    expect(results.filter((result) => 'grant' in result)).toHaveLength(1);
  });

  it('refuses a token after its minute', async () => {
    const { tokens, clock } = setUp();
    const [fresh, old] = [await tokens.mint(grant, 60_000), await tokens.mint({ ...grant, attachmentId: 'att_2' }, 60_000)];
    clock.advance(59_000);
    expect(await tokens.claim(fresh, 'twilio')).toEqual({ grant });
    clock.advance(1000);
    expect(await tokens.claim(old, 'twilio')).toEqual({ refused: 'expired' });
    expect(await tokens.claim(fresh, 'twilio')).toEqual({ refused: 'expired' });
  });

  it('remembers a spent token for as long as it lives, however many shorter ones expire meanwhile', async () => {
    const { tokens, clock } = setUp();
    const short = await tokens.mint({ ...grant, attachmentId: 'att_short' }, 60_000);
    const long = await tokens.mint({ ...grant, attachmentId: 'att_long' }, 660_000);
    expect(await tokens.claim(short, 'twilio')).toHaveProperty('grant');
    expect(await tokens.claim(long, 'twilio')).toHaveProperty('grant');
    for (let passedMs = 0; passedMs < 660_000; passedMs += 60_000) {
      expect(await tokens.claim(long, 'twilio')).toEqual({ refused: 'replayed' });
      clock.advance(60_000);
    }
    expect(await tokens.claim(long, 'twilio')).toEqual({ refused: 'expired' });
  });

  it('grants a token of a call whose id at the carrier is not known', async () => {
    const { tokens } = setUp();
    const dial = { carrier: 'twilio', callId: 'call_1', attachmentId: 'att_1' };
    expect(await tokens.claim(await tokens.mint(dial, 1000), 'twilio')).toEqual({ grant: dial });
  });

  it('refuses what it did not sign, what is for another carrier, and what is no token', async () => {
    const { tokens, clock } = setUp();
    const others = new StreamTokens({ key: new Uint8Array(32).fill(8), clock });
    expect(await tokens.claim(await others.mint(grant, 60_000), 'twilio')).toEqual({ refused: 'forged' });
    expect(await tokens.claim(await tokens.mint(grant, 60_000), 'exotel')).toEqual({ refused: 'forged' });
    const [head, body, sign] = (await tokens.mint(grant, 60_000)).split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const forged = Buffer.from(JSON.stringify({ sub: 'CA2', cid: 'x', aid: 'y', aud: 'stream:twilio', exp: 9e9 })).toString(
      'base64url',
    );
    for (const token of [
      `${none}.${body}.`,
      `${none}.${body}.${sign}`,
      `${head}.${forged}.${sign}`,
      'a.b.c',
      '',
      'x'.repeat(1000),
    ]) {
      expect(Object.keys(await tokens.claim(token, 'twilio'))).toEqual(['refused']);
    }
    const empty = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('stream:twilio')
      .setExpirationTime(9e9)
      .sign(key);
    expect(await tokens.claim(empty, 'twilio')).toEqual({ refused: 'forged' });
  });

  it('lets a token in once on all machines that share the key', async () => {
    const clock = new ManualClock();
    const hub = new MemoryHub(clock);
    const machines = await Promise.all(
      [hub.join(), hub.join()].map(
        async (shared) => new StreamTokens({ key: await shared.secret('streams'), spent: shared.spent, clock }),
      ),
    );
    const token = await machines[0]?.mint(grant, 60_000);
    const claims = await Promise.all(machines.map((tokens) => tokens.claim(token ?? '', 'twilio')));
    expect(claims.filter((claimed) => 'grant' in claimed)).toHaveLength(1);
    expect(claims).toContainEqual({ refused: 'replayed' });
  });

  it('refuses a short key', () => {
    expect(() => new StreamTokens({ key: new Uint8Array(16), clock: new ManualClock() })).toThrow(RangeError);
  });
});
