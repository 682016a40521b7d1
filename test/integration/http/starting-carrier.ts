import type { Carrier } from '../../../src/carriers/carrier.ts';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import type { MediaCodec, WireEvent } from '../../../src/carriers/media-codec.ts';
import { twilio } from '../../../src/carriers/twilio/carrier.ts';
import { twilioDialect } from '../../../src/carriers/twilio/dialect.ts';

/** Messages that its codecs have read. */
export const messages = { read: 0 };

/** Says who calls in its start; answers a trial of the connection with `fine`. */
class StartingCodec implements MediaCodec {
  readonly #json = new JsonCodec(twilioDialect);
  readonly audio = this.#json.audio.bind(this.#json);
  readonly mark = this.#json.mark.bind(this.#json);
  readonly clear = this.#json.clear.bind(this.#json);

  read(...[message, isBinary, reply]: Parameters<MediaCodec['read']>): WireEvent {
    messages.read += 1;
    const text = message.toString();
    if (text === 'trial') {
      reply.sendText('fine');
      return { type: 'probe' };
    }
    if (text === 'bye') return { type: 'stopped', reason: 'trial over' };
    const event = this.#json.read(message, isBinary);
    return event.type === 'started' ? { ...event, call: { from: '+1', to: '+2', direction: 'inbound' } } : event;
  }
}

/** A carrier whose media socket is all that comes of a call, and whose start says which call it is. */
export const starting: Carrier = {
  ...twilio,
  name: 'starting',
  startTimeoutMs: () => 60_000,
  codec: () => new StartingCodec(),
  door: (_config, proofs) => ({
    kind: 'socket',
    readCall: ({ headers }) => (proofs.some((proof) => proof.equals(headers['x-key'] ?? '')) ? 'at-start' : 401),
  }),
};
