import { z } from 'zod';
import { maxMessageBytes, type MediaCodec, type MessageSink, type WireEvent } from '../media-codec.ts';

/**
 * Vonage's WebSocket endpoint (developer.vonage.com/voice/voice-api/concepts/websockets): JSON in text messages; binary messages are audio,
 * headerless signed 16-bit little-endian samples, 20 ms each.
 */

/** Field in which the answer document has Vonage name a socket's call; the socket names it nowhere else. */
export const CALL_FIELD = 'call-uuid';
export const FRAME_MS = 20;
/** Rates an answer document may request. */
export const RATES_HZ = [8_000, 16_000, 24_000] as const;

const event = z.looseObject({ event: z.string() });
const connected = z.looseObject({ 'content-type': z.string(), [CALL_FIELD]: z.string().min(1).max(256).optional() });
const rateOf = new RegExp(String.raw`^audio/l16;\s*rate=(${RATES_HZ.join('|')})$`, 'iu');
const notify = z.object({ payload: z.object({ id: z.string() }) });
const dtmf = z.object({ digit: z.string().regex(/^[0-9*#A-D]$/u) });

export class VonageCodec implements MediaCodec {
  /** Bytes of one message; 0 before the start. */
  #frameBytes = 0;

  read(message: Buffer, isBinary: boolean): WireEvent {
    if (!isBinary) return this.#text(message);
    // A first frame may overtake the start (seen in practice); it is from before the call was being heard.
    if (this.#frameBytes === 0) return { type: 'ignored', name: 'audio before websocket:connected' };
    if (message.length % 2 !== 0) return { type: 'rejected', problem: 'audio ends within a sample' };
    return { type: 'audio', payload: message, timestampMs: undefined };
  }

  /** A message that is not one frame makes Vonage close the socket (1006) and drop the call. */
  audio(payload: Uint8Array, to: MessageSink): void {
    for (let at = 0; at < payload.length; at += this.#frameBytes) {
      to.room(this.#frameBytes).set(payload.subarray(at, at + this.#frameBytes));
      to.send('binary', this.#frameBytes);
    }
  }

  /** Comes back as `websocket:notify` with the same payload when all audio before it was played. */
  mark(name: string, to: MessageSink): void {
    to.sendText(JSON.stringify({ action: 'notify', payload: { id: name } }));
  }

  clear(to: MessageSink): void {
    to.sendText('{"action":"clear"}');
  }

  #text(message: Buffer): WireEvent {
    if (message.length > maxMessageBytes) return { type: 'rejected', problem: `message of ${message.length} bytes` };
    let value: unknown;
    try {
      value = JSON.parse(message.toString('utf8'));
    } catch {
      return { type: 'rejected', problem: 'message is not JSON; a JSON object is accepted' };
    }
    const named = event.safeParse(value);
    if (!named.success) return { type: 'rejected', problem: 'message has no text under "event"' };
    const name = named.data.event;
    if (name === 'websocket:connected') return this.#start(named.data);
    if (this.#frameBytes === 0) return { type: 'rejected', problem: `${name.slice(0, 40)} before websocket:connected` };
    switch (name) {
      case 'websocket:dtmf': {
        const key = dtmf.safeParse(value);
        if (!key.success) return { type: 'rejected', problem: 'digit is not one of 0 to 9, *, #, A to D' };
        return { type: 'digit', digit: key.data.digit };
      }
      case 'websocket:notify': {
        const mark = notify.safeParse(value);
        return mark.success
          ? { type: 'mark', name: mark.data.payload.id }
          : { type: 'rejected', problem: 'notify has no payload.id' };
      }
      case 'websocket:cleared':
        return { type: 'alive' };
      default:
        return { type: 'ignored', name: name.slice(0, 40) };
    }
  }

  #start(value: z.infer<typeof event>): WireEvent {
    if (this.#frameBytes !== 0) return { type: 'rejected', problem: 'second start on one stream; the first one stays in force' };
    const start = connected.safeParse(value);
    const rateHz = start.success ? Number(rateOf.exec(start.data['content-type'])?.[1]) : Number.NaN;
    if (!start.success)
      return { type: 'rejected', problem: `start has no content-type, or no usable ${CALL_FIELD}`, fatal: true };
    if (Number.isNaN(rateHz)) {
      const found = start.data['content-type'].slice(0, 60);
      return {
        type: 'rejected',
        problem: `media format is ${found}; accepted is audio/l16 at ${RATES_HZ.join(', ')} Hz`,
        fatal: true,
      };
    }
    this.#frameBytes = (rateHz / 1000) * FRAME_MS * 2;
    const carrierCallId = start.data[CALL_FIELD];
    const format = { encoding: 'pcm16', rateHz } as const;
    const parameters = Object.fromEntries(
      Object.entries(start.data).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
    // Streams have no id: a call has one at a time.
    const streamId = carrierCallId ?? parameters['call-id'] ?? '';
    return { type: 'started', streamId, carrierCallId, inbound: format, outbound: format, parameters };
  }
}
