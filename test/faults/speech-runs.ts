import { wavFile } from '../../src/audio/wav.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { ConnectionFault } from '../support/faults/connection-fault.ts';
import { FaultyProxy } from '../support/faults/tcp-proxy.ts';
import { SpeechError } from '../../src/speech/client/errors.ts';
import type { RecognitionEvent } from '../../src/speech/port.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';
import type { SpeechFormat } from '../../src/speech/tts/speech-fields.ts';
import type { TestPlatform } from '../integration/platform/setup.ts';
import { sayTones, type ToneWord } from '../integration/platform/tone-engines.ts';
import { quickClock } from '../support/quick-clock.ts';

type Faults = readonly (ConnectionFault | undefined)[];

const RATE_HZ = 8_000;
const never = new AbortController().signal;

/** What became of audio that was asked for or transcribed: the whole of it, or one typed error. */
export type Outcome<Value> = { readonly value: Value } | { readonly error: SpeechError };

interface Broken extends AsyncDisposable {
  readonly client: SpeechPlatform;
  readonly proxy: FaultyProxy;
}

/** A client whose clock is this many times as fast, and whose connections to both services have these faults. */
async function brokenClient(server: TestPlatform, service: 'asr' | 'tts', faults: Faults, times: number): Promise<Broken> {
  const { asrUrl, ttsUrl } = server.platform;
  const proxy = await FaultyProxy.start(service === 'asr' ? asrUrl : ttsUrl, faults);
  const client = new SpeechPlatform(
    { asrUrl: proxy.url, ttsUrl: proxy.url, token: await server.token() },
    { clock: quickClock(times), logger: silentLogger },
  );
  return {
    client,
    proxy,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

export interface Conversation {
  readonly turns: readonly (readonly ToneWord[])[];
  /** Whether the session is ended only when every word was heard or given up, and not as soon as all was said. */
  readonly waits: boolean;
}

export interface Heard {
  readonly words: readonly string[];
  readonly events: readonly RecognitionEvent[];
  readonly broken: number;
}

/** Says turns to a realtime session over a line with these faults, commits each, and ends it. */
export async function converse(server: TestPlatform, { turns, waits }: Conversation, faults: Faults): Promise<Heard> {
  await using broken = await brokenClient(server, 'asr', faults, 10);
  const events: RecognitionEvent[] = [];
  let changed: () => void = () => undefined;
  const listener = (event: RecognitionEvent): void => {
    events.push(event);
    changed();
  };
  const session = broken.client.recogniser.open({ language: 'en', sampleRateHz: RATE_HZ }, listener);
  for (const turn of turns) {
    session.send(sayTones(turn, RATE_HZ));
    session.commit();
  }
  const isDone = (): boolean =>
    wordsOf(events).length >= turns.flat().length || events.some(({ type }) => type === 'audio-lost' || type === 'closed');
  if (waits) while (!isDone()) await new Promise<void>((resolve) => (changed = resolve));
  await session.end();
  return { words: wordsOf(events), events, broken: broken.proxy.broken };
}

function wordsOf(events: readonly RecognitionEvent[]): string[] {
  const finals = events.filter((event) => event.type === 'final').toSorted((one, other) => one.seg - other.seg);
  return finals.flatMap(({ text }) => text.split(' ')).filter((word) => word !== '');
}

/**
 * Whether every word was heard once and in order, but for words of which a part is in an interval that was told as lost:
 * those may be missing.
 */
export function isEveryWordAccountedFor({ turns }: Conversation, { words, events }: Heard): boolean {
  const lost = events.filter((event) => event.type === 'audio-lost');
  let atMs = 0;
  const spoken = turns.flatMap((turn) => {
    // As `sayTones` speaks them.
    atMs += 200;
    return turn.map((word) => {
      const [fromMs, untilMs] = [atMs, atMs + 300];
      atMs += 400;
      return { word, mayMiss: lost.some(({ fromMs: from, lostMs }) => from < untilMs && fromMs < from + lostMs) };
    });
  });
  // Which of the words heard may come next, after any way to account for those spoken so far.
  let places = new Set([0]);
  for (const { word, mayMiss } of spoken) {
    const next = new Set<number>();
    for (const place of places) {
      if (words[place] === word) next.add(place + 1);
      if (mayMiss) next.add(place);
    }
    places = next;
  }
  return places.has(words.length);
}

export interface Uploaded {
  readonly outcome: Outcome<string>;
  /** How often the client says it sent the file, and how often the platform heard it to its end. */
  readonly told: number;
  readonly transcribed: number;
  readonly broken: number;
}

/** Uploads a recording of these words over a line with these faults. */
export async function upload(server: TestPlatform, words: readonly ToneWord[], faults: Faults): Promise<Uploaded> {
  await using broken = await brokenClient(server, 'asr', faults, 60);
  const bytes = wavFile(sayTones(words, RATE_HZ), RATE_HZ);
  const before = server.recognition.opened.length;
  const outcome = await outcomeOf(broken.client.transcribe({ bytes, name: 'call.wav' }, { language: 'en' }, never));
  return {
    outcome: 'value' in outcome ? { value: outcome.value.text } : outcome,
    told: 'value' in outcome ? outcome.value.attempts : outcome.error.attempts,
    transcribed: server.recognition.opened.length - before,
    broken: broken.proxy.broken,
  };
}

export interface Spoken {
  readonly outcome: Outcome<Buffer>;
  readonly broken: number;
}

/** Speaks a text in one request, over a line with these faults. */
export async function speakInOne(server: TestPlatform, text: string, format: SpeechFormat, faults: Faults): Promise<Spoken> {
  await using broken = await brokenClient(server, 'tts', faults, 60);
  const spoken = broken.client.synthesize({ text, voice: 'Nisha', format }, never).then(({ audio }) => joined(audio));
  return { outcome: await outcomeOf(spoken), broken: broken.proxy.broken };
}

/** Speaks texts one after the other over the socket, over lines with these faults. */
export async function speakOnSocket(server: TestPlatform, texts: readonly string[], faults: Faults): Promise<Spoken[]> {
  await using broken = await brokenClient(server, 'tts', faults, 40);
  const spoken: Spoken[] = [];
  for (const text of texts) {
    const audio = joined(broken.client.stream({ text, voice: 'Nisha', format: 'mulaw' }, never));
    spoken.push({ outcome: await outcomeOf(audio), broken: broken.proxy.broken });
  }
  return spoken;
}

async function joined(audio: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of audio) parts.push(Uint8Array.from(part));
  return Buffer.concat(parts);
}

/** @throws whatever is no error of the speech client: nobody else's may come out of it */
async function outcomeOf<Value>(promise: Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { value: await promise };
  } catch (error) {
    if (error instanceof SpeechError) return { error };
    throw error;
  }
}
