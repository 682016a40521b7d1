import type { Timer } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import {
  type SimulatedAnswer,
  type SimulatedItem,
  type SimulatedPeer,
  SimulatedRealtime,
  type SimulatedSession,
} from './simulated-model.ts';

const SPOKEN = { encoding: 'pcm16', rateHz: 24_000 } as const;
/** `goAway` comes this long before the end. */
const GO_AWAY_MS = 5_000;

/** Gemini's Live server, from the other side. */
export class SimulatedGemini extends SimulatedRealtime {
  readonly keyHeader = ['x-goog-api-key', ''] as const;

  protected begin(peer: SimulatedPeer): SimulatedSession {
    const { items, events } = this.opened(peer);
    return new Session(this, peer, items, events, { answer: (...args) => this.answer(...args), closed: () => this.closed(peer) });
  }
}

interface Content {
  readonly turns?: readonly { readonly role: 'user' | 'model'; readonly parts: readonly { readonly text: string }[] }[];
  readonly turnComplete?: boolean;
}

interface ClientMessage {
  readonly setup?: Record<string, unknown>;
  readonly clientContent?: Content;
  readonly realtimeInput?: {
    readonly audio?: { readonly data: string; readonly mimeType: string };
    readonly activityStart?: object;
    readonly activityEnd?: object;
  };
  readonly toolResponse?: { readonly functionResponses: readonly { readonly response: object }[] };
}

type Shared = { answer: SimulatedRealtime['answer']; closed: () => void };

class Session implements SimulatedSession {
  readonly #server: SimulatedGemini;
  readonly #peer: SimulatedPeer;
  readonly #items: SimulatedItem[];
  readonly #events: Record<string, unknown>[];
  readonly #shared: Shared;
  readonly #timers: (Timer | undefined)[] = [];
  #isSetUp = false;
  #isActive = false;
  #bufferMs = 0;
  #audioMs = 0;
  #given: string[] = [];
  #calls = 0;
  #running: SimulatedAnswer | undefined;

  constructor(
    server: SimulatedGemini,
    peer: SimulatedPeer,
    items: SimulatedItem[],
    events: Record<string, unknown>[],
    shared: Shared,
  ) {
    this.#server = server;
    this.#peer = peer;
    this.#items = items;
    this.#events = events;
    this.#shared = shared;
    const { clock, sessionMs } = server.options;
    if (sessionMs === undefined) return;
    const away = { goAway: { timeLeft: `${GO_AWAY_MS / 1000}s` } };
    this.#timers.push(
      clock.after(Math.max(0, sessionMs - GO_AWAY_MS), () => this.#send(away)),
      clock.after(sessionMs, () => {
        this.gone();
        peer.close(1011, 'the deadline expired');
      }),
    );
  }

  gone(): void {
    for (const timer of this.#timers) timer?.cancel();
    this.#running?.stop();
    this.#running = undefined;
    this.#shared.closed();
  }

  receive(text: string): void {
    const message = parseJson(text) as ClientMessage;
    const { setup, clientContent, realtimeInput, toolResponse } = message;
    if (realtimeInput?.audio !== undefined) return this.#audio(realtimeInput.audio);
    this.#events.push({ ...message });
    if (setup !== undefined) {
      this.#isSetUp = true;
      this.#send({ setupComplete: {} });
    } else if (!this.#isSetUp) this.#complain('a message before the setup');
    if (realtimeInput?.activityStart !== undefined) this.#begins();
    if (realtimeInput?.activityEnd !== undefined) this.#ends();
    if (clientContent !== undefined) this.#content(clientContent);
    for (const { response } of toolResponse?.functionResponses ?? []) this.#given.push(`result: ${JSON.stringify(response)}`);
    if (toolResponse !== undefined) this.#respond();
  }

  #audio({ data, mimeType }: { readonly data: string; readonly mimeType: string }): void {
    if (mimeType !== 'audio/pcm;rate=16000') this.#complain(`audio of the type ${mimeType}`);
    if (!this.#isActive) this.#complain('audio outside an activity');
    this.#bufferMs += Buffer.from(data, 'base64').length / 32;
  }

  #begins(): void {
    if (this.#isActive) this.#complain('an activity within an activity');
    this.#isActive = true;
    this.#interrupt();
  }

  #ends(): void {
    if (!this.#isActive) this.#complain('the end of no activity');
    this.#isActive = false;
    this.#items.push({ id: '', role: 'user', text: '', audioMs: this.#bufferMs });
    this.#audioMs += this.#bufferMs;
    this.#bufferMs = 0;
    this.#respond();
  }

  #content({ turns = [], turnComplete }: Content): void {
    for (const { role, parts } of turns) {
      const text = parts.map((part) => part.text).join(' ');
      this.#items.push({ id: '', role: role === 'model' ? 'assistant' : 'user', text, audioMs: 0 });
      this.#given.push(`${role}: ${text}`);
    }
    if (turnComplete === true) this.#respond();
  }

  #interrupt(): void {
    if (this.#running === undefined) return;
    this.#running.stop();
    this.#running = undefined;
    this.#send({ serverContent: { interrupted: true } });
    this.#send({ serverContent: { turnComplete: true } });
  }

  #respond(): void {
    this.#interrupt();
    const [given, audioMs] = [this.#given, this.#audioMs];
    this.#given = [];
    this.#audioMs = 0;
    let item: SimulatedItem | undefined;
    this.#running = this.#shared.answer(this.#items, given, audioMs, {
      format: SPOKEN,
      begun: () => undefined,
      speech: (words, audio, ms) => {
        if (item === undefined) this.#items.push((item = { id: '', role: 'assistant', text: '', audioMs: 0 }));
        item.text += words;
        item.audioMs += ms;
        const data = Buffer.from(audio).toString('base64');
        this.#send({ serverContent: { outputTranscription: { text: words } } });
        this.#send({ serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data } }] } } });
      },
      spoken: () => this.#send({ serverContent: { generationComplete: true } }),
      call: (name, args) => {
        this.#calls += 1;
        this.#running = undefined;
        this.#send({ toolCall: { functionCalls: [{ id: `call-${this.#calls}`, name, args }] } });
      },
      done: () => this.#done(),
      failed: () => this.#peer.close(1011, 'Resource has been exhausted'),
      frame: (text) => this.#peer.send(text),
      error: () => this.#send({ error: { message: 'an error that changes nothing' } }),
      drop: () => this.#peer.terminate(),
    });
  }

  #done(): void {
    // A call has ended the turn already.
    if (this.#running === undefined) return;
    this.#running = undefined;
    const details = [{ modality: 'AUDIO', tokenCount: 20 }];
    const usageMetadata = {
      promptTokenCount: 50,
      responseTokenCount: 30,
      promptTokensDetails: details,
      responseTokensDetails: details,
    };
    this.#send({ serverContent: { turnComplete: true }, usageMetadata });
  }

  #complain(text: string): void {
    this.#server.complaints.push(text);
  }

  #send(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }
}
