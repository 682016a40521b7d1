import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  bytesOf,
  MOST_UNSENT,
  MOST_UNSENT_OF_ADDRESS,
  MOST_WAITING,
  READ_WITHIN_MS,
  UnreadAnswers,
} from '../../../src/http/unread-answers.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MB = 1024 ** 2;

function setUp() {
  const clock = new ManualClock();
  const lines: string[] = [];
  const unread = new UnreadAnswers(clock, createLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } }));
  /** A client of an address; `ask` has its request answered with so many bytes. */
  const client = (remoteAddress: string) => {
    const socket = {
      remoteAddress,
      destroyed: false,
      destroy: () => (socket.destroyed = true),
    };
    const request = { socket } as unknown as IncomingMessage;
    const handled: ServerResponse[] = [];
    const ask = (bytes = 0): ServerResponse => {
      const response = new EventEmitter() as ServerResponse;
      unread.admit(request, response, () => {
        handled.push(response);
        if (bytes > 0) unread.note(request, response, bytes);
      });
      return response;
    };
    return { socket, handled, ask };
  };
  return { clock, lines, unread, client };
}

describe('UnreadAnswers', () => {
  it('handles one request of a connection after the other, and cuts it when more than sixteen wait', () => {
    const { client, lines } = setUp();
    const { ask, handled, socket } = client('192.0.2.1');
    const responses = Array.from({ length: MOST_WAITING + 1 }, () => ask());
    expect([handled.length, socket.destroyed]).toEqual([1, false]);
    responses[0]?.emit('close');
    expect(handled.map((each) => responses.indexOf(each))).toEqual([0, 1]);
    ask();
    ask();
    expect(socket.destroyed).toBe(true);
    responses[1]?.emit('close');
    ask();
    expect(handled).toHaveLength(2);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('too many requests at once');
  });

  it('handles the next request at once where nothing waits', () => {
    const { client } = setUp();
    const { ask, handled } = client('192.0.2.1');
    for (let at = 1; at <= 3; at += 1) {
      ask().emit('close');
      expect(handled).toHaveLength(at);
    }
  });

  it('cuts whom an address has had wait the longest, and lets one large answer through', () => {
    const { client, unread } = setUp();
    const large = client('192.0.2.1');
    large.ask(2 * MOST_UNSENT_OF_ADDRESS);
    expect(large.socket.destroyed).toBe(false);
    const second = client('192.0.2.1');
    second.ask(MB);
    expect([large.socket.destroyed, second.socket.destroyed]).toEqual([true, false]);
    expect(unread.bytes).toBe(MB);
  });

  it('limits the unsent bytes over all addresses', () => {
    const { client, unread } = setUp();
    const clients = Array.from({ length: 200 }, (_, at) => client(`192.0.2.${at}`));
    for (const { ask } of clients) {
      ask(MB);
      expect(unread.bytes).toBeLessThanOrEqual(MOST_UNSENT);
    }
    expect(clients.map(({ socket }) => socket.destroyed).lastIndexOf(true)).toBe(200 - MOST_UNSENT / MB - 1);
  });

  it('cuts a client that reads nothing for half a minute and a second for each 16 kB', () => {
    const { client, clock, unread } = setUp();
    const [small, large, quick] = [client('192.0.2.1'), client('192.0.2.2'), client('192.0.2.3')];
    small.ask(1000);
    large.ask(16_000 * 60);
    quick.ask(1000).emit('close');
    clock.advance(2 * READ_WITHIN_MS);
    expect([small.socket.destroyed, large.socket.destroyed, quick.socket.destroyed]).toEqual([true, false, false]);
    clock.advance(READ_WITHIN_MS);
    expect([large.socket.destroyed, unread.bytes, clock.pendingTimers]).toEqual([true, 0, 0]);
  });

  it('waits for nothing once everything is read', () => {
    const { client, clock, unread } = setUp();
    const { ask } = client('192.0.2.1');
    const response = ask(1000);
    expect(clock.pendingTimers).toBe(1);
    response.emit('close');
    expect([unread.bytes, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('counts texts and bytes, and no stream', () => {
    expect([bytesOf('ü'), bytesOf(Buffer.alloc(3)), bytesOf(null), bytesOf(new EventEmitter())]).toEqual([2, 3, 0, 0]);
  });
});
