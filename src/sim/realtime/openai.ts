import type { AudioFormat } from '../../audio/format.ts';
import type { Timer } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import {
  type SimulatedAnswer,
  type SimulatedItem,
  type SimulatedPeer,
  SimulatedRealtime,
  type SimulatedSession,
} from './simulated-model.ts';

const FORMATS: Readonly<Record<string, AudioFormat>> = {
  'audio/pcmu': { encoding: 'mulaw', rateHz: 8_000 },
  'audio/pcma': { encoding: 'alaw', rateHz: 8_000 },
  'audio/pcm': { encoding: 'pcm16', rateHz: 24_000 },
};
const LEAST_COMMIT_MS = 100;
/** Input tokens: one for 100 ms of audio, one for four characters. Output: one for 50 ms. */
const [HEARD_MS, SPOKEN_MS, CHARACTERS] = [100, 50, 4];

/** OpenAI's Realtime server (GA), from the other side: what is not of the protocol is refused, and noted. */
export class SimulatedOpenAi extends SimulatedRealtime {
  readonly keyHeader = ['authorization', 'Bearer '] as const;

  protected begin(peer: SimulatedPeer): SimulatedSession {
    const { items, events } = this.opened(peer);
    return new Session(this, peer, items, events, {
      answer: (...args) => this.answer(...args),
      closed: () => this.closed(peer),
    });
  }
}

type Frame = Record<string, unknown>;
type Shared = { answer: SimulatedRealtime['answer']; closed: () => void };
interface Running {
  readonly id: string;
  readonly answer: SimulatedAnswer;
  item: SimulatedItem | undefined;
}
type Parts = { readonly content?: readonly Frame[] } & Frame;

class Session implements SimulatedSession {
  readonly #server: SimulatedOpenAi;
  readonly #peer: SimulatedPeer;
  readonly #items: SimulatedItem[];
  readonly #events: Frame[];
  readonly #shared: Shared;
  #ids = 0;
  #heard: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };
  #spoken = this.#heard;
  #isConfigured = false;
  #bufferMs = 0;
  #audioMs = 0;
  /** What was told since the last answer. */
  #given: string[] = [];
  #running: Running | undefined;
  readonly #limit: Timer | undefined;

  constructor(server: SimulatedOpenAi, peer: SimulatedPeer, items: SimulatedItem[], events: Frame[], shared: Shared) {
    this.#server = server;
    this.#peer = peer;
    this.#items = items;
    this.#events = events;
    this.#shared = shared;
    const { clock, sessionMs } = server.options;
    if (sessionMs !== undefined)
      this.#limit = clock.after(sessionMs, () => {
        this.#error('session_expired', 'Your session hit the maximum duration of 60 minutes.');
        this.gone();
        peer.close(1001, 'session expired');
      });
    clock.after(0, () => this.#send({ type: 'session.created', session: { type: 'realtime', id: this.#id('sess') } }));
  }

  gone(): void {
    this.#limit?.cancel();
    this.#running?.answer.stop();
    this.#running = undefined;
    this.#shared.closed();
  }

  findTurnOver(): void {
    if (this.#bufferMs >= LEAST_COMMIT_MS) this.#commit();
  }

  receive(text: string): void {
    const event = parseJson(text) as Frame;
    if (event['type'] === 'input_audio_buffer.append') return this.#append(String(event['audio']));
    this.#events.push(event);
    switch (event['type']) {
      case 'session.update':
        return this.#update(event['session'] as Frame);
      case 'input_audio_buffer.commit':
        return this.#commit();
      case 'input_audio_buffer.clear':
        this.#bufferMs = 0;
        return this.#send({ type: 'input_audio_buffer.cleared' });
      case 'conversation.item.create':
        return this.#create(event['item'] as Parts);
      case 'conversation.item.truncate':
        return this.#truncate(String(event['item_id']), Number(event['audio_end_ms']));
      case 'conversation.item.delete':
        return this.#delete(String(event['item_id']));
      case 'response.create':
        return this.#respond();
      case 'response.cancel':
        return this.#cancel(event['response_id'] as string | undefined);
      default:
        return this.#error('invalid_event', `there is no event ${String(event['type'])}`);
    }
  }

  #update(session: Frame): void {
    if (session['type'] !== 'realtime') this.#error('invalid_value', 'session.type has to be realtime');
    const audio = session['audio'] as { input: { format: Frame; turn_detection: unknown }; output: { format: Frame } };
    this.#heard = FORMATS[String(audio.input.format['type'])] ?? this.#heard;
    this.#spoken = FORMATS[String(audio.output.format['type'])] ?? this.#spoken;
    this.#isConfigured = true;
    this.#send({ type: 'session.updated', session });
  }

  #append(base64: string): void {
    if (!this.#isConfigured) this.#complain('audio came before the session was configured');
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.toString('base64') !== base64) this.#complain('audio that is not base64');
    this.#bufferMs += (bytes.length * 1000) / this.#heard.rateHz / (this.#heard.encoding === 'pcm16' ? 2 : 1);
  }

  #commit(): void {
    if (this.#bufferMs < LEAST_COMMIT_MS)
      return this.#error('input_audio_buffer_commit_empty', `buffer too small: ${this.#bufferMs} ms`);
    const item = this.#add({ id: this.#id('item'), role: 'user', text: '', audioMs: this.#bufferMs });
    this.#audioMs += this.#bufferMs;
    this.#bufferMs = 0;
    this.#send({ type: 'input_audio_buffer.committed', item_id: item.id });
  }

  #create({ type, role, content = [], output }: Parts): void {
    const text = type === 'function_call_output' ? String(output) : content.map((part) => String(part['text'])).join(' ');
    const wanted = role === 'assistant' ? 'output_text' : 'input_text';
    if (type === 'message' && content.some((part) => part['type'] !== wanted))
      this.#error('invalid_value', `content of a message of ${String(role)} has to be ${wanted}`);
    const who = type === 'function_call_output' ? 'result' : (role as 'user');
    this.#given.push(`${who}: ${text}`);
    const item = this.#add({ id: this.#id('item'), role: who, text, audioMs: 0 });
    this.#send({ type: 'conversation.item.added', item: { id: item.id } });
  }

  #truncate(id: string, ms: number): void {
    const item = this.#items.find((each) => each.id === id);
    if (item === undefined || item.role !== 'assistant' || !Number.isInteger(ms)) return this.#error('item_truncate_invalid', id);
    if (ms > item.audioMs) return this.#error('item_truncate_too_long', `${ms} ms of ${item.audioMs} ms`);
    item.heardMs = ms;
    this.#send({ type: 'conversation.item.truncated', item_id: id, audio_end_ms: ms, content_index: 0 });
  }

  #delete(id: string): void {
    const item = this.#items.find((each) => each.id === id);
    if (item === undefined) return this.#error('item_not_found', id);
    item.isDeleted = true;
    this.#send({ type: 'conversation.item.deleted', item_id: id });
  }

  #cancel(id: string | undefined): void {
    const running = this.#running;
    if (running === undefined || (id !== undefined && id !== running.id))
      return this.#send({
        type: 'error',
        error: { type: 'invalid_request_error', code: 'response_cancel_not_active', message: '' },
      });
    running.answer.stop();
    this.#finish(running.id, 'cancelled');
  }

  #respond(): void {
    if (this.#running !== undefined)
      return this.#error('conversation_already_has_active_response', 'Conversation already has an active response');
    const id = this.#id('resp');
    const [given, audioMs] = [this.#given, this.#audioMs];
    this.#given = [];
    this.#audioMs = 0;
    const fields = { response_id: id, output_index: 0, content_index: 0 };
    const item = (): SimulatedItem =>
      (running.item ??= this.#add({ id: this.#id('item'), role: 'assistant', text: '', audioMs: 0 }));
    const answer = this.#shared.answer(this.#items, given, audioMs, {
      format: this.#spoken,
      begun: () => this.#send({ type: 'response.created', response: { id, status: 'in_progress' } }),
      speech: (words, audio, ms) => {
        const { id: itemId } = item();
        item().text += words;
        item().audioMs += ms;
        this.#send({ type: 'response.output_audio_transcript.delta', ...fields, item_id: itemId, delta: words });
        this.#send({
          type: 'response.output_audio.delta',
          ...fields,
          item_id: itemId,
          delta: Buffer.from(audio).toString('base64'),
        });
      },
      spoken: () => this.#send({ type: 'response.output_audio.done', ...fields, item_id: item().id }),
      call: (name, args) =>
        this.#send({
          type: 'response.output_item.done',
          response_id: id,
          item: { type: 'function_call', call_id: this.#id('call'), name, arguments: JSON.stringify(args) },
        }),
      done: () => this.#finish(id, 'completed'),
      failed: () => this.#finish(id, 'failed'),
      frame: (text) => this.#peer.send(text),
      error: () => this.#error('invalid_value', 'an error that changes nothing', false),
      drop: () => this.#peer.terminate(),
    });
    const running: Running = { id, answer, item: undefined };
    this.#running = running;
  }

  #finish(id: string, status: string): void {
    const item = this.#running?.item;
    this.#running = undefined;
    const texts = this.#items.reduce((sum, { text, audioMs }) => sum + (audioMs === 0 ? text.length : 0), 0);
    const heardMs = this.#items.reduce((sum, { role, audioMs }) => sum + (role === 'user' ? audioMs : 0), 0);
    const usage = {
      input_token_details: {
        text_tokens: Math.ceil(texts / CHARACTERS),
        audio_tokens: Math.ceil(heardMs / HEARD_MS),
        cached_tokens: 0,
      },
      output_token_details: {
        text_tokens: Math.ceil((item?.text.length ?? 0) / CHARACTERS),
        audio_tokens: Math.ceil((item?.audioMs ?? 0) / SPOKEN_MS),
      },
    };
    const details = status === 'failed' ? { status_details: { type: 'failed', error: { code: 'rate_limit_exceeded' } } } : {};
    this.#send({ type: 'response.done', response: { id, status, usage, ...details } });
  }

  #add(item: SimulatedItem): SimulatedItem {
    this.#items.push(item);
    return item;
  }

  #id(kind: string): string {
    this.#ids += 1;
    return `${kind}_${this.#server.sessions}_${this.#ids}`;
  }

  #error(code: string, message: string, isFault = true): void {
    if (isFault && code !== 'session_expired') this.#complain(`${code}: ${message}`);
    this.#send({ type: 'error', error: { type: 'invalid_request_error', code, message } });
  }

  #complain(text: string): void {
    this.#server.complaints.push(text);
  }

  #send(event: Frame): void {
    this.#peer.send(JSON.stringify({ event_id: this.#id('event'), ...event }));
  }
}
