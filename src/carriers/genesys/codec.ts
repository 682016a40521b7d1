import { z } from 'zod';
import { MULAW_8K } from '../../audio/format.ts';
import { parseJson } from '../../kernel/json.ts';
import { maxMessageBytes, type MediaCodec, type MessageSink, type WireEvent } from '../media-codec.ts';

/**
 * Genesys' AudioHook protocol, version 2 (purecloudlabs/audiohook-reference-implementation app/audiohook/src/protocol): JSON with strict sequence
 * numbers on both sides, and mu-law in binary messages. AudioHook Monitor sends a copy of a call between people; Audio Connector lets a bot speak.
 */

/** Whether a session is a call of a bot's, or a copy of a call between people. */
export type GenesysUse = 'auto' | 'bot' | 'monitor';

/** Conversation id of a connection test. */
const NO_CONVERSATION = '00000000-0000-0000-0000-000000000000';
/** Most bytes in one audio message. */
const MOST_AUDIO_BYTES = 64_000;
/** Longest error text sent to Genesys. */
const MOST_INFO_CHARACTERS = 300;
const TRANSCRIPTS =
  'open asks for the languages of transcripts: Transcript Connector is not supported; accepted are Audio Connector and AudioHook Monitor';
const RATE_PER_MS = 8;

const duration = z
  .string()
  .regex(/^PT\d{1,9}(?:\.\d{1,9})?S$/u)
  .transform((text) => Number(text.slice(2, -1)) * 1000);
const envelope = z.object({
  version: z.literal('2'),
  id: z.string().min(1).max(64),
  type: z.string().max(60),
  seq: z.int().min(1),
  serverseq: z.int().min(0),
  parameters: z.record(z.string(), z.unknown()),
});
/** The parts of an invalid message needed to answer it. */
const sender = envelope.pick({ id: true, seq: true });
const text = z.string().max(200).catch('');
const media = z.object({
  type: z.literal('audio'),
  format: z.string(),
  channels: z.array(z.string()).min(1).max(2),
  rate: z.number(),
});
const open = z.object({
  organizationId: text,
  conversationId: z.string().min(1).max(64),
  participant: z.object({ id: text, ani: text, dnis: text }).catch({ id: '', ani: '', dnis: '' }),
  media: z.array(z.unknown()).max(50),
  language: text,
  /** Asks for the languages that can be transcribed; sent by Transcript Connector. */
  supportedLanguages: z.boolean().catch(false),
  inputVariables: z.record(z.string(), z.unknown()).optional().catch({}),
});
const dtmf = z.object({ digit: z.string().regex(/^[0-9*#A-D]$/u) });
const gap = z.object({ discarded: duration });
const failure = z.object({ code: z.number(), message: text });
type Envelope = z.infer<typeof envelope>;
type Media = z.infer<typeof media>;

export class GenesysCodec implements MediaCodec {
  readonly #use: GenesysUse;
  #id = '';
  /** Sequence numbers of the last received and the last sent message. */
  #clientSeq = 0;
  #serverSeq = 0;
  #state: 'waiting' | 'open' | 'closing' | 'closed' = 'waiting';
  #channels = 1;
  /** Position in the caller's audio, discarded audio included. */
  #positionMs = 0;
  /** Marks not yet followed by audio. */
  #marks: string[] = [];

  constructor(use: GenesysUse) {
    this.#use = use;
  }

  read(message: Buffer, isBinary: boolean, reply: MessageSink): WireEvent {
    if (message.length > maxMessageBytes) return rejected(`message of ${message.length} bytes`);
    if (isBinary) return this.#audio(message);
    const value = parseJson(message.toString('utf8'));
    const parsed = envelope.safeParse(value);
    const named = parsed.data ?? sender.safeParse(value).data;
    if (this.#id === '' && named !== undefined) {
      this.#id = named.id;
      if (!parsed.success) this.#clientSeq = named.seq;
    }
    if (!parsed.success) return this.#violated(`message has no usable ${wrongIn(parsed.error)}; accepted is version 2`, reply);
    const { id, seq, serverseq } = parsed.data;
    if (id !== this.#id) return this.#violated('message names another session', reply);
    const lastSeq = this.#clientSeq;
    // Counted from here even if the message is wrong: our next message names it, and the `close` after a `disconnect` must be readable.
    this.#clientSeq = seq;
    if (seq !== lastSeq + 1 && this.#state !== 'closing') return this.#violated(`seq is ${seq} after ${lastSeq}`, reply);
    if (serverseq > this.#serverSeq) return this.#violated(`serverseq is ${serverseq}, and ${this.#serverSeq} was sent`, reply);
    return this.#message(parsed.data, reply);
  }

  audio(payload: Uint8Array, to: MessageSink): void {
    this.#marks = [];
    for (let at = 0; at < payload.length; at += MOST_AUDIO_BYTES) {
      const part = payload.subarray(at, at + MOST_AUDIO_BYTES);
      to.room(part.length).set(part);
      to.send('binary', part.length);
    }
  }

  /** Sends nothing: Genesys reports by itself when everything was played. */
  mark(name: string): void {
    this.#marks.push(name);
  }

  clear(to: MessageSink): void {
    this.#marks = [];
    this.#send('event', { entities: [{ type: 'barge_in', data: {} }] }, to);
  }

  /** The Architect flow continues with the variables, and may transfer the call. */
  transfer(callee: string, to: MessageSink): void {
    this.#disconnect('completed', { offhookEndReason: 'transferred', offhookTransferTo: callee }, to);
  }

  /** Genesys' flow continues after a `disconnect`; without a call, as configured for errors. */
  goodbye(reason: string, to: MessageSink, isRefusal = false): 'close' | 'wait' {
    if (isRefusal) this.#fail(reason, to);
    else this.#disconnect('completed', { offhookEndReason: reason.slice(0, 100) }, to);
    return this.#state === 'closing' ? 'wait' : 'close';
  }

  #message({ type, parameters }: Envelope, reply: MessageSink): WireEvent {
    if (type === 'open') return this.#open(parameters, reply);
    if (this.#state === 'waiting') return rejected(`${type} before open`);
    switch (type) {
      case 'close':
        this.#send('closed', {}, reply);
        this.#state = 'closed';
        return { type: 'stopped', reason: text.parse(parameters['reason']) };
      case 'ping':
        this.#send('pong', {}, reply);
        return { type: 'alive' };
      case 'update':
        this.#send('updated', {}, reply);
        return { type: 'alive' };
      case 'dtmf': {
        const key = dtmf.safeParse(parameters);
        return key.success ? { type: 'digit', digit: key.data.digit } : rejected('digit is not one of 0 to 9, *, #, A to D');
      }
      case 'playback_completed': {
        // Audio on its way has not been played yet.
        const name = this.#marks.at(-1);
        this.#marks = [];
        return name === undefined ? { type: 'alive' } : { type: 'mark', name };
      }
      case 'discarded':
      case 'resumed': {
        const lost = gap.safeParse(parameters);
        if (!lost.success) return rejected(`${type} has no duration under "discarded"`);
        this.#positionMs += lost.data.discarded;
        return { type: 'alive' };
      }
      case 'playback_started':
      case 'paused':
        return { type: 'alive' };
      case 'error': {
        const told = failure.safeParse(parameters);
        return rejected(told.success ? `Genesys reports error ${told.data.code}` : 'Genesys reports an error');
      }
      default:
        return { type: 'ignored', name: type.slice(0, 40) };
    }
  }

  #open(parameters: Readonly<Record<string, unknown>>, reply: MessageSink): WireEvent {
    if (this.#state !== 'waiting') return this.#violated('second open on one session', reply);
    const parsed = open.safeParse(parameters);
    if (!parsed.success) return this.#violated(`open has no usable ${wrongIn(parsed.error)}`, reply);
    const { conversationId, participant, language, organizationId, supportedLanguages, inputVariables } = parsed.data;
    // Only a flow's own bot has input variables.
    if (supportedLanguages && inputVariables === undefined && this.#use !== 'bot') return this.#violated(TRANSCRIPTS, reply);
    const offered = parsed.data.media.flatMap((each) => media.safeParse(each).data ?? []);
    const { chosen, isMonitor } = choiceOf(offered, this.#use);
    if (chosen === undefined)
      return this.#violated(`open offers ${listOf(offered)}; accepted is PCMU at 8000 Hz with the external channel`, reply);
    this.#channels = chosen.channels.length;
    this.#state = 'open';
    this.#send('opened', { media: [chosen] }, reply);
    if (conversationId === NO_CONVERSATION) return { type: 'probe' };
    const [from, to] = [numberOf(participant.ani), numberOf(participant.dnis)];
    return {
      type: 'started',
      streamId: this.#id,
      carrierCallId: conversationId,
      inbound: MULAW_8K,
      outbound: MULAW_8K,
      parameters: { ...textsOf(inputVariables ?? {}), organizationId, participantId: participant.id, language },
      call: { from, to, direction: 'inbound', ...(isMonitor ? { mode: 'listen' as const } : {}) },
    };
  }

  #audio(message: Buffer): WireEvent {
    if (this.#state === 'waiting') return { type: 'ignored', name: 'audio before opened' };
    if (this.#state !== 'open') return { type: 'alive' };
    if (message.length % this.#channels !== 0) return rejected('audio ends within a sample of two channels');
    const timestampMs = this.#positionMs;
    this.#positionMs += message.length / this.#channels / RATE_PER_MS;
    if (this.#channels === 1) return { type: 'audio', payload: message, timestampMs };
    const half = message.length / 2;
    for (let at = 0; at < half; at += 1) {
      external[at] = message[at * 2] ?? 0;
      internal[at] = message[at * 2 + 1] ?? 0;
    }
    return {
      type: 'audio',
      track: 'caller',
      payload: external.subarray(0, half),
      other: internal.subarray(0, half),
      timestampMs,
    };
  }

  /** Reports a protocol violation to Genesys, which answers by `close`. */
  #violated(problem: string, reply: MessageSink): WireEvent {
    const isWaiting = this.#state === 'waiting';
    this.#fail(problem, reply);
    return isWaiting ? { type: 'rejected', problem, fatal: true } : rejected(problem);
  }

  /** Before a message has named the session, there is no way to report. */
  #fail(info: string, to: MessageSink): void {
    if (this.#id === '' || (this.#state !== 'waiting' && this.#state !== 'open')) return;
    this.#send('disconnect', { reason: 'error', info: info.slice(0, MOST_INFO_CHARACTERS) }, to);
    this.#state = 'closing';
  }

  #disconnect(reason: 'completed', outputVariables: Readonly<Record<string, string>>, to: MessageSink): void {
    if (this.#state !== 'open') return;
    this.#send('disconnect', { reason, outputVariables }, to);
    this.#state = 'closing';
  }

  #send(type: string, parameters: object, to: MessageSink): void {
    this.#serverSeq += 1;
    const about = { version: '2', id: this.#id, type, seq: this.#serverSeq, clientseq: this.#clientSeq };
    to.sendText(JSON.stringify({ ...about, parameters }));
  }
}

/** Shared by all sessions; valid until the next message. */
const external = Buffer.alloc(maxMessageBytes / 2);
const internal = Buffer.alloc(maxMessageBytes / 2);

/** Only AudioHook Monitor offers both sides at once. */
function choiceOf(
  offered: readonly Media[],
  use: GenesysUse,
): { readonly chosen: Media | undefined; readonly isMonitor: boolean } {
  const usable = offered.filter(({ format, rate }) => format === 'PCMU' && rate === 8000);
  const both = usable.find(({ channels: [first, second] }) => first === 'external' && second === 'internal');
  const isMonitor = use === 'monitor' || (use === 'auto' && both !== undefined);
  const alone = usable.find(({ channels }) => channels.length === 1 && channels[0] === 'external');
  return { chosen: isMonitor ? (both ?? alone) : alone, isMonitor };
}

/** The first invalid field. */
function wrongIn({ issues: [issue] }: z.ZodError): string {
  return issue === undefined || issue.path.length === 0 ? 'JSON object' : `"${issue.path.join('.')}"`;
}

function listOf(offered: readonly Media[]): string {
  const each = offered.map(
    ({ format, rate, channels }) => `${format.slice(0, 20)} at ${rate} Hz (${channels.join(', ').slice(0, 40)})`,
  );
  return each.length === 0 ? 'no audio' : each.slice(0, 5).join(', ');
}

/** Genesys writes numbers as `tel:+15550100001`, or bare. */
function numberOf(address: string): string {
  return address.replace(/^tel:/iu, '');
}

function textsOf(variables: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(variables).flatMap(([name, value]): [string, string][] =>
    ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [],
  );
  return Object.fromEntries(entries);
}

function rejected(problem: string): WireEvent {
  return { type: 'rejected', problem };
}
