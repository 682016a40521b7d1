import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';
import { maxMessageBytes, type MediaCodec, type MessageSink, type WireEvent } from '../media-codec.ts';

/*
 * The media protocol of our own pages: binary messages are signed 16-bit little-endian samples, mono, whole frames of 20 ms; text messages are JSON with a
 * `type`. The page begins with `start`; the page says `mark` once it has played what came before it, and drops what it has not played on `clear`.
 */

export const FRAME_MS = 20;
/** Rates that a page may send and play; both directions have the same. */
export const RATES_HZ = [8_000, 16_000, 24_000, 48_000] as const;

const named = z.looseObject({ type: z.string() });
const start = z.object({ rateHz: z.literal(RATES_HZ) });
const digit = z.object({ digit: z.string().regex(/^[0-9*#A-D]$/u) });
const mark = z.object({ name: z.string().min(1).max(200) });

/** One socket of a page. */
export class BrowserCodec implements MediaCodec {
  #isStarted = false;

  read(message: Buffer, isBinary: boolean): WireEvent {
    if (!isBinary) return this.#text(message);
    if (!this.#isStarted) return { type: 'ignored', name: 'audio before start' };
    if (message.length % 2 !== 0) return rejected('audio ends within a sample');
    return { type: 'audio', payload: message, timestampMs: undefined };
  }

  audio(payload: Uint8Array, to: MessageSink): void {
    to.room(payload.length).set(payload);
    to.send('binary', payload.length);
  }

  mark(name: string, to: MessageSink): void {
    to.sendText(JSON.stringify({ type: 'mark', name }));
  }

  clear(to: MessageSink): void {
    to.sendText('{"type":"clear"}');
  }

  /** Tells the page why, which a close frame tells only some pages. */
  goodbye(reason: string, to: MessageSink): 'close' {
    to.sendText(JSON.stringify({ type: 'stop', reason }));
    return 'close';
  }

  #text(message: Buffer): WireEvent {
    if (message.length > maxMessageBytes) return rejected(`message of ${message.length} bytes`);
    const value = named.safeParse(parseJson(message.toString('utf8')));
    if (!value.success) return rejected('message is no JSON object with a text under "type"');
    const { type } = value.data;
    if (type === 'start') return this.#start(value.data);
    if (!this.#isStarted) return rejected(`${type.slice(0, 40)} before start`);
    switch (type) {
      case 'digit': {
        const pressed = digit.safeParse(value.data);
        return pressed.success
          ? { type: 'digit', digit: pressed.data.digit }
          : rejected('digit is not one of 0 to 9, *, #, A to D');
      }
      case 'mark': {
        const played = mark.safeParse(value.data);
        return played.success ? { type: 'mark', name: played.data.name } : rejected('mark has no text under "name"');
      }
      case 'stop':
        return { type: 'stopped', reason: 'the page hung up' };
      default:
        return { type: 'ignored', name: type.slice(0, 40) };
    }
  }

  #start(value: unknown): WireEvent {
    if (this.#isStarted) return rejected('second start on one socket; the first one stays in force');
    const started = start.safeParse(value);
    if (!started.success)
      return { ...rejected(`start has no "rateHz"; accepted are ${RATES_HZ.join(', ')}, as a number`), fatal: true };
    this.#isStarted = true;
    const format = { encoding: 'pcm16', rateHz: started.data.rateHz } as const;
    // The token in the socket's address names the call.
    return { type: 'started', streamId: 'page', carrierCallId: undefined, inbound: format, outbound: format, parameters: {} };
  }
}

function rejected(problem: string): Extract<WireEvent, { type: 'rejected' }> {
  return { type: 'rejected', problem };
}
