import { eventually } from '../eventually.ts';
import { sine } from '../../../src/audio/tone.ts';
import type { Recogniser, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../../../src/speech/port.ts';

type Of<Type extends RecognitionEvent['type']> = Extract<RecognitionEvent, { type: Type }>;

/** One recognition session and all its events. Aborted when disposed of. */
export class Listening implements Disposable {
  readonly events: RecognitionEvent[] = [];
  readonly session: RecognitionSession;

  constructor(recogniser: Recogniser, options: Partial<RecognitionOptions> = {}) {
    this.session = recogniser.open({ language: 'en', sampleRateHz: 8_000, ...options }, (event) => this.events.push(event));
  }

  of<Type extends RecognitionEvent['type']>(type: Type): Of<Type>[] {
    return this.events.filter((event): event is Of<Type> => event.type === type);
  }

  /** The finals, shortly: number and text, and `end` where one ends an utterance. */
  get finals(): string[] {
    return this.of('final').map(({ seg, text, endOfUtterance }) => `${seg} ${text}${endOfUtterance === true ? ' end' : ''}`);
  }

  get isClosed(): boolean {
    return this.of('closed').length > 0;
  }

  /** Says something of this length. */
  say(ms: number): void {
    this.session.send(speech(ms));
  }

  /** Says something and commits it; resolves with the final that answers. */
  async turn(ms: number): Promise<void> {
    const before = this.finals.length;
    this.say(ms);
    this.session.commit();
    await eventually(() => this.finals.length > before);
  }

  pause(ms: number): void {
    this.session.send(new Int16Array(ms * 8));
  }

  [Symbol.dispose](): void {
    this.session.abort();
  }
}

/** A sound that counts as a voice, at 8 kHz. */
export function speech(ms: number): Int16Array {
  return sine(440, ms, 8_000);
}

/** All audio of a synthesis. */
export async function audioOf(spoken: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of spoken) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
