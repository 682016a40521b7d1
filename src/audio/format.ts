/** How audio is encoded between our parts, and what speech is asked for as. `pcm16` is signed 16-bit little-endian. Always mono. */
export type Encoding = 'mulaw' | 'alaw' | 'pcm16';
/** How one direction of a call's audio is encoded by its carrier. `pcm16be` is `pcm16` in network byte order, as in RTP's L16. */
export type WireEncoding = Encoding | 'pcm16be';

export interface AudioFormat {
  readonly encoding: Encoding;
  readonly rateHz: number;
}

export interface WireFormat {
  readonly encoding: WireEncoding;
  readonly rateHz: number;
}

/** G.711 mu-law, 8,000 samples a second, one byte each. */
export const MULAW_8K: AudioFormat = { encoding: 'mulaw', rateHz: 8000 };
/** G.711 A-law, the same of Europe and most of the world. */
export const ALAW_8K: AudioFormat = { encoding: 'alaw', rateHz: 8000 };
/** Format of most telephone legs, and the default for speech. */
export const TELEPHONE_FORMAT: AudioFormat = { ...MULAW_8K };

/** The two rates that a call can have inside, by what its first leg sends: telephone band, … */
export const NARROW_RATE_HZ = 8000;
/** … and wideband. */
export const WIDE_RATE_HZ = 16_000;
/** Samples in the 20 ms frame (ptime) that the turn machine counts in, at the rate of the detectors. */
export const FRAME_SAMPLES_8K = 160;
export const FRAME_MS = 20;

export function bytesPerSample(encoding: WireEncoding): 1 | 2 {
  return encoding === 'mulaw' || encoding === 'alaw' ? 1 : 2;
}

/** The byte that decodes to silence: 0xFF in mu-law, 0xD5 in A-law (ITU-T G.711), 0 in linear PCM. */
export function idleByte(encoding: WireEncoding): number {
  switch (encoding) {
    case 'mulaw':
      return 0xff;
    case 'alaw':
      return 0xd5;
    case 'pcm16':
    case 'pcm16be':
      return 0;
  }
}

/** The format in which audio of this wire is kept and made by us: the same but for the byte order of linear PCM. */
export function formatOf({ encoding, rateHz }: WireFormat): AudioFormat {
  return { encoding: encoding === 'pcm16be' ? 'pcm16' : encoding, rateHz };
}

/** As people read it: `mulaw at 8000 Hz`. */
export function formatName({ encoding, rateHz }: WireFormat): string {
  return `${encoding} at ${rateHz} Hz`;
}

/** The rate inside a call for a wire of this rate. */
export function callRateHz({ rateHz }: WireFormat): number {
  return rateHz >= WIDE_RATE_HZ ? WIDE_RATE_HZ : NARROW_RATE_HZ;
}

/** What a leg of linear samples of this rate is spoken to in. */
export function linearSpeech(rateHz: number): AudioFormat {
  return { encoding: 'pcm16', rateHz: callRateHz({ encoding: 'pcm16', rateHz }) };
}

/** Length in milliseconds of `byteLength` bytes of audio in this format. */
export function durationMs(format: WireFormat, byteLength: number): number {
  return (byteLength / bytesPerSample(format.encoding) / format.rateHz) * 1000;
}
