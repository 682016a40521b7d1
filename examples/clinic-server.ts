// The server behind the clinic bots: takes their bookings and cancellations, each once, and only where the signature is right.
// Try it: npx tsx examples/clinic-server.ts [SECRET], which prints the two variables that the gateway needs.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';

/** What a flow's request says; see docs/flow.md. */
const requested = z.object({
  call: z.object({ callId: z.string(), from: z.string() }),
  request: z.string(),
  variables: z.object({ day: z.iso.date(), time: z.string() }).partial(),
});

export interface Booking {
  readonly number: string;
  readonly from: string;
  readonly day: string;
  readonly time: string;
}

/** Of a visit, in rupees. */
const FEE = 262.5;

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** A calendar with one doctor: an hour is given once, and a caller's new appointment replaces the old one. */
export class Calendar {
  readonly bookings = new Map<string, Booking>();
  readonly #onBooking: (booking: Booking) => void;
  #booked = 0;

  constructor(onBooking: (booking: Booking) => void = () => undefined) {
    this.#onBooking = onBooking;
  }

  answer(path: string, { call, variables: { day, time } }: z.infer<typeof requested>): Answer {
    if (path === '/cancellations') {
      const known = this.bookings.delete(call.from);
      return known ? { status: 200, body: {} } : { status: 404, body: { error: 'there is no appointment under this number' } };
    }
    if (path !== '/bookings' || day === undefined || time === undefined)
      return { status: 400, body: { error: 'no day or time' } };
    const others = [...this.bookings.values()].filter(({ from }) => from !== call.from);
    if (others.some((booking) => booking.day === day && booking.time === time)) return { status: 409, body: { error: 'taken' } };
    const number = String(1000 + (this.#booked += 1));
    const booking = { number, from: call.from, day, time };
    this.bookings.set(call.from, booking);
    this.#onBooking(booking);
    return { status: 201, body: { number, fee: FEE } };
  }
}

/** @param secret what the gateway signs with, `whsec_` and base64 @returns the address, and what stops the server */
export async function startClinicServer(calendar: Calendar, secret: string, port = 0) {
  const webhook = new Webhook(secret);
  /** A request that is tried again gets the answer that it was given: keep these for a day in a real server. */
  const answers = new Map<string, Answer>();
  const answerTo = async (request: IncomingMessage): Promise<Answer> => {
    const body = await text(request);
    const key = String(request.headers['idempotency-key']);
    try {
      webhook.verify(body, request.headers as Record<string, string>);
    } catch {
      return { status: 401, body: { error: 'the signature is wrong' } };
    }
    const parsed = requested.safeParse(JSON.parse(body));
    if (!parsed.success) return { status: 400, body: { error: z.prettifyError(parsed.error) } };
    const answer = answers.get(key) ?? calendar.answer(request.url ?? '', parsed.data);
    answers.set(key, answer);
    return answer;
  };
  const server = createServer((request, response) => {
    void answerTo(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: listening } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${listening}`, [Symbol.asyncDispose]: async () => void server.close() };
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const secret = process.argv[2] ?? `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64')}`;
  const calendar = new Calendar((booking) => process.stdout.write(`booked: ${JSON.stringify(booking)}\n`));
  const { url } = await startClinicServer(calendar, secret, 8090);
  process.stdout.write(`export CLINIC_SERVER_URL=${url} CLINIC_SERVER_SECRET=${secret}\n`);
}
