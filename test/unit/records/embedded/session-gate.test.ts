import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type GateSession, SessionGate } from '../../../../src/records/embedded/session-gate.ts';
import { fatal } from '../../../../src/records/embedded/wire.ts';

/** A backend that answers by script: `begin` opens a transaction, `commit` and ROLLBACK end it; it writes down what it ran. */
class ScriptedBackend {
  readonly ran: string[] = [];
  #status = 'I';
  fails = false;
  /** What it says to a ROLLBACK in place of ending the transaction. */
  refusal: Buffer | undefined;
  readonly discarded: string[] = [];

  discard(error: Error): void {
    this.discarded.push(error.message);
    this.refusal = undefined;
    this.#status = 'I';
  }

  async exec(batch: Uint8Array): Promise<Uint8Array> {
    const text = Buffer.from(batch)
      .toString()
      .replaceAll(/[^\w *"]/g, '')
      .replace(/^Q(?=ROLLBACK|LISTEN)/, '');
    this.ran.push(text);
    if (this.fails || this.ran.length > 100) throw new Error('out of memory');
    if (this.refusal !== undefined && text.endsWith('ROLLBACK')) return this.refusal;
    if (text.endsWith('begin')) this.#status = 'T';
    if (text.endsWith('commit') || text.endsWith('ROLLBACK')) this.#status = 'I';
    const news = text.endsWith('notify')
      ? Buffer.concat([Buffer.from([0x41, 0, 0, 0, 15, 0, 0, 0, 9]), Buffer.from('news\0\0\0')])
      : Buffer.alloc(0);
    return Buffer.concat([news, Buffer.from([0x5a, 0, 0, 0, 5]), Buffer.from(this.#status)]);
  }
}

interface TestClient extends GateSession {
  readonly replies: Buffer[];
  readonly endings: string[];
  say(text: string): void;
}

function setUp(maxWaiting = 1_000) {
  const backend = new ScriptedBackend();
  const clock = new ManualClock();
  const gate = new SessionGate(backend, clock, { maxWaiting, idleInTransactionMs: 1_000 });
  const client = (): TestClient => {
    const replies: Buffer[] = [];
    const endings: string[] = [];
    const session = gate.open({ deliver: (bytes) => void replies.push(bytes), ended: (state) => void endings.push(state) });
    return { ...session, replies, endings, say: (text) => session.run({ bytes: Buffer.from(text), subscriptions: [] }) };
  };
  return { backend, clock, gate, client };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('SessionGate', () => {
  it('gives the backend to one client from begin to commit, while the others wait', async () => {
    const { backend, client } = setUp();
    const [a, b] = [client(), client()];
    a.say('a begin');
    b.say('b 1');
    await settle();
    expect(backend.ran).toEqual(['a begin']);
    a.say('a 1');
    a.say('a commit');
    await settle();
    expect(backend.ran).toEqual(['a begin', 'a 1', 'a commit', 'b 1']);
    expect([a.replies.length, b.replies.length]).toEqual([3, 1]);
  });

  it('never runs two transactions into each other, and keeps the order within each client', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 3 }), { minLength: 4, maxLength: 40 }), async (order) => {
        const { backend, client } = setUp();
        const clients = Array.from({ length: 4 }, client);
        const next = clients.map(() => 0);
        for (const index of [...order, ...clients.flatMap((_, i) => [i, i, i])]) {
          const step = ['begin', 'work', 'commit'][next[index]! % 3];
          next[index]! += 1;
          clients[index]!.say(`${index} ${step}`);
          if (next[index]! % 2 === 0) await settle();
        }
        for (const [index, session] of clients.entries()) {
          for (; next[index]! % 3 !== 0; next[index]! += 1)
            session.say(`${index} ${['begin', 'work', 'commit'][next[index]! % 3]}`);
        }
        await settle();
        await settle();
        for (let at = 0; at < backend.ran.length; at += 3) {
          const owner = backend.ran[at]?.[0];
          expect(backend.ran.slice(at, at + 3)).toEqual([`${owner} begin`, `${owner} work`, `${owner} commit`]);
        }
        expect(backend.ran).toHaveLength(next.reduce((sum, count) => sum + count, 0));
      }),
      { numRuns: 50 },
    );
  });

  it('rolls back what a client leaves open when it goes, even in the middle of a batch', async () => {
    const { backend, client } = setUp();
    const [a, b] = [client(), client()];
    a.say('a begin');
    b.say('b 1');
    a.close();
    await settle();
    expect(backend.ran).toEqual(['a begin', 'ROLLBACK', 'b 1']);
    expect(a.replies).toEqual([]);
  });

  it('ends a client that holds a transaction and says nothing', async () => {
    const { backend, clock, client } = setUp();
    const [a, b] = [client(), client()];
    a.say('a begin');
    await settle();
    b.say('b 1');
    clock.advance(999);
    a.say('a 1');
    await settle();
    clock.advance(999);
    await settle();
    expect(a.endings).toEqual([]);
    clock.advance(1);
    await settle();
    expect(a.endings).toEqual(['25P03']);
    expect(backend.ran).toEqual(['a begin', 'a 1', 'ROLLBACK', 'b 1']);
  });

  it('ends the client whose batch is one too many', async () => {
    const { client } = setUp(2);
    const [a, b] = [client(), client()];
    a.say('a 1');
    a.say('a 2');
    a.say('a 3');
    b.say('b 1');
    expect([a.endings, b.endings]).toEqual([[], ['53400']]);
    await settle();
    expect(a.replies).toHaveLength(3);
  });

  it('gives notifications to those who listen, and listens again after one client stopped', async () => {
    const { backend, client } = setUp();
    const [a, b, c] = [client(), client(), client()];
    for (const session of [a, b])
      session.run({ bytes: Buffer.from('listen'), subscriptions: [{ act: 'listen', channel: 'news' }] });
    c.say('notify');
    await settle();
    expect([a.replies.length, b.replies.length, c.replies.length]).toEqual([2, 2, 1]);
    a.run({ bytes: Buffer.from('unlisten'), subscriptions: [{ act: 'unlisten', channel: '*' }] });
    c.say('notify');
    await settle();
    expect(backend.ran.slice(-3)).toEqual(['unlisten', 'LISTEN "news"', 'notify']);
    expect([a.replies.length, b.replies.length]).toEqual([3, 3]);
  });

  it('ends everyone when the backend fails in the middle of a transaction, and serves who comes later', async () => {
    const { backend, client } = setUp();
    const [a, b] = [client(), client()];
    a.say('a begin');
    await settle();
    backend.fails = true;
    a.say('a 1');
    b.say('b 1');
    await settle();
    expect([a.endings, b.endings]).toEqual([['57P01'], ['57P01']]);
    backend.fails = false;
    const c = client();
    c.say('c 1');
    await settle();
    expect(backend.ran).toEqual(['a begin', 'a 1', 'c 1']);
    expect([c.replies.length, c.endings]).toEqual([1, []]);
  });

  it.each([
    {
      note: 'which dies of it',
      refusal: fatal('24000', 'cannot drop active portal'),
      reason: 'FATAL: cannot drop active portal',
    },
    { note: 'which only refuses', refusal: Buffer.from([0x5a, 0, 0, 0, 5, 0x45]), reason: 'a transaction cannot be ended' },
  ])('asks a backend once to end a transaction, and goes on with another one: $note', async ({ refusal, reason }) => {
    const { backend, client } = setUp();
    const [a, b] = [client(), client()];
    backend.refusal = refusal;
    a.say('a begin');
    b.say('b 1');
    await settle();
    a.close();
    await settle();
    expect(backend.ran).toEqual(['a begin', 'ROLLBACK']);
    expect(backend.discarded).toEqual([reason]);
    expect(b.endings).toEqual(['57P01']);
    const c = client();
    c.say('c 1');
    await settle();
    expect(c.replies).toHaveLength(1);
  });

  it('refuses every client once it is shut', async () => {
    const { backend, gate, client } = setUp();
    const a = client();
    gate.shut('closing');
    const b = client();
    b.say('b 1');
    await settle();
    expect([a.endings, b.endings, backend.ran]).toEqual([['57P01'], ['57P01'], []]);
  });
});
