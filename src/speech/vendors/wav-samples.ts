import type { AudioFormat, Encoding } from '../../audio/format.ts';
import { readWavLayout, WavError, type WavLayout } from '../../audio/wav.ts';
import { SpeechProtocolError } from '../client/errors.ts';

/** Longest header before the samples: some writers put notes there. */
const MOST_HEADER_BYTES = 64 * 1024;
const ENCODINGS: Partial<Record<WavLayout['format'], Encoding>> = { pcm16: 'pcm16', mulaw: 'mulaw', alaw: 'alaw' };
/** Chunks that writers put behind the samples. */
const TRAILING = /^(?:LIST|INFO|id3 |ID3 |bext|fact|cue |smpl|PEAK|iXML|junk|JUNK)/u;

/**
 * Reads the samples of a WAV file as it arrives. A file that is written while it is sent does not know its length: what its header says
 * is not believed, except that known chunks may follow there.
 */
export class WavSamples {
  #head = Buffer.alloc(0);
  #layout: WavLayout | undefined;
  #format: AudioFormat | undefined;
  /** Bytes up to where the header says that the samples end; undefined once that was passed. */
  #toldBytes: number | undefined;
  #isOver = false;
  /** Up to three bytes behind that place: too few to know a chunk by. */
  #held: Uint8Array = new Uint8Array();
  #problem: unknown;

  /** Format of the samples; undefined until the header arrived. */
  get format(): AudioFormat | undefined {
    return this.#format;
  }

  /**
   * @returns the sample bytes in this part, which may end within a sample
   * @throws SpeechProtocolError for a header that cannot be read, more than one channel, or samples of another kind than 16 bits or G.711
   */
  push(part: Uint8Array): Uint8Array {
    if (this.#layout !== undefined) return this.#samples(part);
    this.#head = Buffer.concat([this.#head, part]);
    const layout = this.#readHeader();
    if (layout === undefined) return new Uint8Array();
    const encoding = ENCODINGS[layout.format];
    if (encoding === undefined || layout.channels !== 1)
      throw new SpeechProtocolError(
        `synthesis: the WAV file has ${layout.channels} channels of ${layout.format}; one of 16 bits, mu-law or A-law can be played`,
      );
    this.#layout = layout;
    this.#format = { encoding, rateHz: layout.rateHz };
    const told = this.#head.readUInt32LE(layout.dataOffset - 4);
    // An odd length is followed by a byte of padding.
    this.#toldBytes = told === 0 ? undefined : told + (told % 2);
    const samples = this.#head.subarray(layout.dataOffset);
    this.#head = Buffer.alloc(0);
    return this.#samples(samples);
  }

  /** The file is over. @returns the last samples @throws SpeechProtocolError when its samples never began */
  end(): Uint8Array {
    if (this.#format === undefined)
      throw new SpeechProtocolError('synthesis: the header of the WAV file cannot be read', { cause: this.#problem });
    return this.#held;
  }

  #readHeader(): WavLayout | undefined {
    try {
      // All chunks before the samples must be there, and a part of these.
      return readWavLayout(this.#head, Number.MAX_SAFE_INTEGER);
    } catch (cause) {
      if (!(cause instanceof WavError) || this.#head.length > MOST_HEADER_BYTES)
        throw new SpeechProtocolError('synthesis: the header of the WAV file cannot be read', { cause });
      this.#problem = cause;
      return undefined;
    }
  }

  #samples(came: Uint8Array): Uint8Array {
    if (this.#isOver) return new Uint8Array();
    const told = this.#toldBytes;
    if (told === undefined) return came;
    const part = this.#held.length === 0 ? came : Buffer.concat([this.#held, came]);
    const behind = Buffer.from(part.subarray(told, told + 4));
    if (behind.length === 4) {
      this.#isOver = TRAILING.test(behind.toString('latin1'));
      this.#toldBytes = undefined;
      this.#held = new Uint8Array();
      return this.#isOver ? part.subarray(0, told) : part;
    }
    this.#held = behind;
    this.#toldBytes = Math.max(0, told - part.length);
    return part.subarray(0, told);
  }
}
