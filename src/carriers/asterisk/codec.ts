import { z } from 'zod';
import type { AudioFormat } from '../../audio/format.ts';
import { parseJson } from '../../kernel/json.ts';
import { maxMessageBytes, type MediaCodec, type MessageSink, type WireEvent } from '../media-codec.ts';

/*
 * Asterisk's chan_websocket (docs.asterisk.org, "WebSocket Channel Driver"; checked against Asterisk 22.10.1): audio in binary messages without a head,
 * in the channel's own codec, and beside it control messages in text, as lines of words or as JSON, whichever the dialplan asked for.
 */

/** Codecs of a channel by Asterisk's names; linear samples are little-endian. */
const FORMATS: Readonly<Record<string, AudioFormat>> = {
  ulaw: { encoding: 'mulaw', rateHz: 8000 },
  alaw: { encoding: 'alaw', rateHz: 8000 },
  slin: { encoding: 'pcm16', rateHz: 8000 },
  slin16: { encoding: 'pcm16', rateHz: 16_000 },
  slin24: { encoding: 'pcm16', rateHz: 24_000 },
  slin48: { encoding: 'pcm16', rateHz: 48_000 },
};
export const FRAME_MS = 20;
/** Most mark names remembered: far more than fit in the audio sent ahead. */
const MOST_MARKS = 1000;

const start = z.looseObject({
  channel_id: z.string().min(1).max(256),
  format: z.string(),
  ptime: z.coerce.number(),
  channel_variables: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
const key = z.string().regex(/^[0-9*#A-Da-d]$/u);

/** What one control message says, in either form. */
interface ControlMessage {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export class AsteriskCodec implements MediaCodec {
  /** Undefined before the start. Asterisk accepts commands in the form of its own messages. */
  #form: 'words' | 'json' | undefined;
  /** Names of sent marks by the short ids sent in their place: Asterisk silently drops text of more than 128 bytes. */
  readonly #marks = new Map<string, string>();
  #marksSent = 0;

  read(message: Buffer, isBinary: boolean): WireEvent {
    if (isBinary) {
      // Under load a few frames arrive before the start, from before the call was being heard.
      if (this.#form === undefined) return { type: 'ignored', name: 'audio before MEDIA_START' };
      return { type: 'audio', payload: message, timestampMs: undefined };
    }
    if (message.length > maxMessageBytes) return { type: 'rejected', problem: `message of ${message.length} bytes` };
    const text = message.toString('utf8');
    const isJson = text.trimStart().startsWith('{');
    const control = isJson ? jsonMessage(text) : wordMessage(text);
    if (control === undefined)
      return { type: 'rejected', problem: 'message is neither an event in JSON nor a line that begins with the name of one' };
    if (control.name === 'MEDIA_START') return this.#start(control, isJson ? 'json' : 'words');
    if (this.#form === undefined) return { type: 'rejected', problem: `${control.name.slice(0, 40)} before MEDIA_START` };
    return this.#event(control);
  }

  /** Asterisk cuts a message into frames and plays one each 20 ms; a partial frame would be discarded. */
  audio(payload: Uint8Array, to: MessageSink): void {
    to.room(payload.length).set(payload);
    to.send('binary', payload.length);
  }

  /** Returns as `MEDIA_MARK_PROCESSED` when the frame before it was played, and never after a flush. */
  mark(name: string, to: MessageSink): void {
    const id = `m${(this.#marksSent += 1)}`;
    this.#marks.set(id, name);
    const [oldest] = this.#marks.keys();
    if (this.#marks.size > MOST_MARKS && oldest !== undefined) this.#marks.delete(oldest);
    this.#command(to, 'MARK_MEDIA', id);
  }

  /** Waiting marks are dropped with the audio. */
  clear(to: MessageSink): void {
    this.#command(to, 'FLUSH_MEDIA');
  }

  /** Replaces a ping, on which some versions hang up (asterisk issue 1722). */
  ping(to: MessageSink): void {
    this.#command(to, 'GET_STATUS');
  }

  #command(to: MessageSink, command: string, id?: string): void {
    if (this.#form === 'json') to.sendText(JSON.stringify({ command, correlation_id: id }));
    else to.sendText(id === undefined ? command : `${command} ${id}`);
  }

  #start({ fields }: ControlMessage, form: 'words' | 'json'): WireEvent {
    if (this.#form !== undefined)
      return { type: 'rejected', problem: 'second start on one stream; the first one stays in force' };
    const parsed = start.safeParse(fields);
    if (!parsed.success) return { type: 'rejected', problem: 'MEDIA_START has no channel_id, format or ptime', fatal: true };
    const { channel_id: streamId, format: name, ptime, channel_variables: variables = {} } = parsed.data;
    const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
    if (format === undefined || FRAME_MS % ptime !== 0) {
      const accepted = Object.keys(FORMATS).join(', ');
      const problem = `the channel has ${name.slice(0, 20)} in frames of ${ptime} ms; accepted are ${accepted} in frames of 10 or 20 ms, as by c(ulaw) in Dial`;
      return { type: 'rejected', problem, fatal: true };
    }
    this.#form = form;
    const texts = Object.entries(variables).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    // The request named the call.
    return {
      type: 'started',
      streamId,
      carrierCallId: undefined,
      inbound: format,
      outbound: format,
      parameters: Object.fromEntries(texts),
    };
  }

  #event({ name, fields }: ControlMessage): WireEvent {
    switch (name) {
      case 'DTMF_END': {
        const digit = key.safeParse(fields['digit']);
        if (!digit.success) return { type: 'rejected', problem: 'digit is not one of 0 to 9, *, #, A to D' };
        return { type: 'digit', digit: digit.data.toUpperCase() };
      }
      case 'MEDIA_MARK_PROCESSED': {
        const id = textOf(fields['correlation_id']);
        const mark = this.#marks.get(id);
        if (mark === undefined) return { type: 'rejected', problem: 'a mark came back that was not sent, or twice' };
        this.#marks.delete(id);
        return { type: 'mark', name: mark };
      }
      case 'ERROR':
        return { type: 'rejected', problem: `Asterisk says: ${textOf(fields['error_text']).slice(0, 200)}` };
      // Its XOFF level is above what is ever sent ahead.
      case 'STATUS':
      case 'MEDIA_XOFF':
      case 'MEDIA_XON':
      case 'QUEUE_DRAINED':
      case 'MEDIA_BUFFERING_COMPLETED':
        return { type: 'alive' };
      default:
        return { type: 'ignored', name: name.slice(0, 40) };
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const jsonEvent = z.looseObject({ event: z.string() });

function jsonMessage(text: string): ControlMessage | undefined {
  const parsed = jsonEvent.safeParse(parseJson(text));
  return parsed.success ? { name: parsed.data.event, fields: parsed.data } : undefined;
}

/** `NAME key:value key:value`; a mark's name stands without a key. */
function wordMessage(text: string): ControlMessage | undefined {
  const [name = '', ...words] = text.trim().split(/\s+/u);
  if (!/^[A-Z][A-Z_]{1,60}$/u.test(name)) return undefined;
  const pairs = words.map((word): [string, string] => {
    const at = word.indexOf(':');
    return at === -1 ? ['', word] : [word.slice(0, at), word.slice(at + 1)];
  });
  if (name === 'ERROR') return { name, fields: { error_text: words.join(' ') } };
  if (name === 'MEDIA_MARK_PROCESSED') return { name, fields: { correlation_id: words.join(' ') } };
  return { name, fields: Object.fromEntries(pairs) };
}
