import { randomUUID } from 'node:crypto';
import type { AudioFormat } from '../../audio/format.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CallerFrame, LineOptions } from '../carrier-line.ts';
import type { CarrierWire } from '../carrier-wire.ts';
import { base64, type Fields, isFields, JsonLine } from '../json-line.ts';

/** The `stream_*` fields of a command, as far as they matter here. */
export interface StreamRequest {
  readonly url: string;
  /** `mp3` where the command does not say `rtp`: raw audio is dropped then. */
  readonly mode: string;
  readonly codec: string;
  readonly rateHz: number;
  readonly authToken: string;
}

/** What the telephone leg has negotiated: PCMU in North America, PCMA elsewhere. */
export type LegCodec = 'PCMU' | 'PCMA';

export interface TelnyxStreamFacts {
  readonly callControlId: string;
  readonly callSessionId: string;
  readonly from: string;
  readonly to: string;
  readonly leg: LegCodec;
}

const LEAST_MS = 20;
const MOST_MS = 30_000;
/** Every so many frames one is sent behind the next: their order is not promised. */
const SWAPPED_EVERY = 20;

/** Telnyx' media stream: JSON messages, the leg's codec from the caller, the declared one to them. */
export class SimulatedTelnyxStream extends JsonLine {
  readonly streamId = randomUUID().toUpperCase();
  readonly #facts: TelnyxStreamFacts;
  readonly #request: StreamRequest;
  readonly #swapsBytes: boolean;
  #sequence = 0;
  #behind: (() => void) | undefined;
  #isAnswered = false;

  /** The socket is open; the call may not be answered yet. */
  constructor(wire: CarrierWire, request: StreamRequest, facts: TelnyxStreamFacts, clock: Clock, options: LineOptions = {}) {
    const from: AudioFormat = { encoding: facts.leg === 'PCMA' ? 'alaw' : 'mulaw', rateHz: 8_000 };
    super(wire, clock, { from, to: formatOf(request) }, options);
    this.#facts = facts;
    this.#request = request;
    this.#swapsBytes = request.codec === 'L16';
    this.tell({ event: 'connected', version: '1.0.0', 'x-telnyx-streaming-auth-token': request.authToken });
  }

  /** The call was answered: the stream starts. */
  answered(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const { callControlId, callSessionId, from, to, leg } = this.#facts;
    this.tell({
      event: 'start',
      sequence_number: this.#next(),
      start: {
        user_id: '3e6f995f-85f7-4705-9741-53b116d28237',
        call_control_id: callControlId,
        call_session_id: callSessionId,
        from,
        to,
        tags: [],
        client_state: '',
        custom_parameters: {},
        media_format: { encoding: leg, sample_rate: 8000, channels: 1 },
      },
      stream_id: this.streamId,
    });
    this.begin();
  }

  protected override sendAudio(payload: Uint8Array, frame: CallerFrame): void {
    const media = {
      track: 'inbound',
      chunk: String(frame.index + 1),
      timestamp: String(5 + frame.atMs),
      payload: base64(payload),
    };
    const send = (): void => this.tell({ event: 'media', sequence_number: this.#next(), media, stream_id: this.streamId });
    const behind = this.#behind;
    this.#behind = undefined;
    if (frame.index % SWAPPED_EVERY === SWAPPED_EVERY - 1) this.#behind = send;
    else send();
    behind?.();
  }

  protected override sendDigit(digit: string): void {
    const at = new Date(this.clock.wallMs()).toISOString();
    this.tell({ event: 'dtmf', occurred_at: at, sequence_number: this.#next(), stream_id: this.streamId, dtmf: { digit } });
  }

  protected override markPlayed(name: string): void {
    this.tell({ event: 'mark', sequence_number: this.#next(), stream_id: this.streamId, mark: { name } });
  }

  protected override goodbye(): 'close' {
    const { callControlId: call_control_id } = this.#facts;
    const stop = { user_id: '3e6f995f-85f7-4705-9741-53b116d28237', call_control_id };
    this.tell({ event: 'stop', sequence_number: this.#next(), stop, stream_id: this.streamId });
    return 'close';
  }

  protected override told({ event, media, mark }: Fields): void {
    if (event === 'media' && isFields(media) && typeof media['payload'] === 'string') {
      this.#audio(Buffer.from(media['payload'], 'base64'));
      return;
    }
    if (event === 'mark' && isFields(mark) && typeof mark['name'] === 'string') return this.mark(mark['name']);
    if (event === 'clear') for (const name of this.clear()) this.markPlayed(name);
    else this.#refuse(100_003, 'malformed_frame', `the event ${String(event).slice(0, 40)}`);
  }

  #audio(payload: Buffer): void {
    if (this.#request.mode !== 'rtp') return this.complain('raw audio in mp3 mode is dropped');
    const { encoding, rateHz } = this.formats.to;
    const lengthMs = (payload.length / (encoding === 'pcm16' ? 2 : 1) / rateHz) * 1000;
    if (lengthMs < LEAST_MS || lengthMs > MOST_MS) this.#refuse(100_004, 'invalid_media', `audio of ${lengthMs} ms`);
    // L16 is in network byte order here (RFC 2586).
    else this.play(this.#swapsBytes ? Buffer.from(payload).swap16() : payload);
  }

  #refuse(code: number, title: string, detail: string): void {
    this.complain(`${title}: ${detail}`);
    this.tell({ event: 'error', stream_id: this.streamId, payload: { code, title, detail } });
  }

  #next(): string {
    this.#sequence += 1;
    return String(this.#sequence);
  }
}

function formatOf({ codec, rateHz }: StreamRequest): AudioFormat {
  if (codec === 'L16') return { encoding: 'pcm16', rateHz };
  return { encoding: codec === 'PCMA' ? 'alaw' : 'mulaw', rateHz: 8_000 };
}
