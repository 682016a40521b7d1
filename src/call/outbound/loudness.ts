import { decodeAudio, encodeAudio, LentSamples } from '../../audio/codec.ts';
import { type AudioFormat, bytesPerSample, type Encoding, FRAME_MS, TELEPHONE_FORMAT } from '../../audio/format.ts';
import { amplify, energyOf, peakLevel, SILENCE_DB } from '../../audio/level.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../speech/port.ts';

/** Target level of speech without pauses: that of a telephone set held properly. */
const TARGET_DB = -20;
/** Smaller differences are inaudible; larger ones are faults that gain does not fix. */
const LEAST_GAIN_DB = 1.5;
const MOST_GAIN_DB = 10;
/** Speech needed to know a voice's level, in 20 ms frames; beyond the larger number older speech counts less. */
const TELLING_FRAMES = 50;
const MOST_FRAMES = 1_500;
/** For a voice known that long, one frame in this many is measured. */
const KNOWN_STEP = 4;
/** Bots name voices freely; the least recently heard is forgotten. */
const MOST_VOICES = 500;

const FULL_SCALE = 32_768 * 32_768;
/** Frames of less power than this (-45 dB) are pauses. */
const SPEECH_POWER = FULL_SCALE * 10 ** -4.5;

/** The frame being measured, shared by all voices. */
const frame = new LentSamples();

/** The level of one voice, learned from its speech. */
class VoiceLevel {
  #frames = 0;
  #power = 0;
  #peak = 0;
  #step = 1;

  hear({ encoding, rateHz }: AudioFormat, audio: Uint8Array): void {
    const frameBytes = frameSamples(rateHz) * bytesPerSample(encoding);
    for (let at = 0; at + frameBytes <= audio.length; at += this.#step * frameBytes)
      this.#hearFrame(frame.decode(encoding, audio.subarray(at, at + frameBytes)));
  }

  hearSamples(pcm: Int16Array, rateHz: number): void {
    const samples = frameSamples(rateHz);
    for (let at = 0; at + samples <= pcm.length; at += this.#step * samples) this.#hearFrame(pcm.subarray(at, at + samples));
  }

  #hearFrame(pcm: Int16Array): void {
    const power = energyOf(pcm) / pcm.length;
    if (power >= SPEECH_POWER) this.#add(power, peakLevel(pcm) ** 2);
  }

  /** Gain in whole dB; 0 while less than `tellingFrames` of sound is known. */
  gainDb(tellingFrames = TELLING_FRAMES): number {
    if (this.#frames < tellingFrames) return 0;
    const wanted = TARGET_DB - decibels(this.#power / this.#frames);
    const room = -decibels(this.#peak);
    const gainDb = Math.max(-MOST_GAIN_DB, Math.min(MOST_GAIN_DB, wanted, Math.max(0, room)));
    return Math.abs(gainDb) < LEAST_GAIN_DB ? 0 : Math.round(gainDb);
  }

  #add(power: number, peak: number): void {
    this.#frames += 1;
    this.#power += power;
    this.#peak = Math.max(this.#peak, peak);
    if (this.#frames <= MOST_FRAMES) return;
    this.#frames /= 2;
    this.#power /= 2;
    this.#step = KNOWN_STEP;
  }
}

/**
 * Levels all voices, whether synthesized now or cached: each voice's level is learned from its speech, and its next sentence is amplified. The gain
 * never changes within a sentence.
 */
export class EvenLoudness implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  readonly #levels = new Map<string, VoiceLevel>();
  /** Output for each code, by encoding and gain. */
  readonly #tables = new Map<string, Uint8Array>();

  constructor(synthesizer: Synthesizer) {
    this.#synthesizer = synthesizer;
  }

  get capabilities(): SynthesizerCapabilities {
    return this.#synthesizer.capabilities;
  }

  isInMemory(request: SynthesisRequest): boolean {
    return this.#synthesizer.isInMemory?.(request) ?? false;
  }

  async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const level = this.#levelOf(`${request.voice}\n${request.language}`);
    const gainDb = level.gainDb();
    const format = request.format ?? TELEPHONE_FORMAT;
    for await (const audio of this.#synthesizer.speak(request, signal)) {
      level.hear(format, audio);
      yield gainDb === 0 ? audio : this.#louder(format.encoding, audio, gainDb);
    }
  }

  /** G.711 is amplified by a table of its 256 codes. */
  #louder(encoding: Encoding, audio: Uint8Array, gainDb: number): Uint8Array {
    if (encoding === 'pcm16') return encodeAudio(encoding, amplify(decodeAudio(encoding, audio), gainDb));
    const name = `${encoding} ${gainDb}`;
    let table = this.#tables.get(name);
    if (table === undefined) {
      const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
      table = encodeAudio(encoding, amplify(decodeAudio(encoding, codes), gainDb));
      this.#tables.set(name, table);
    }
    const louder = new Uint8Array(audio.length);
    for (let at = 0; at < audio.length; at += 1) louder[at] = table[audio[at] ?? 0] ?? 0;
    return louder;
  }

  /** Learns a voice from cached sentences, so that its first sentence in a call is level too. */
  async learn(requests: readonly SynthesisRequest[]): Promise<void> {
    const { signal } = new AbortController();
    for (const request of requests) {
      const audio = this.speak(request, signal)[Symbol.asyncIterator]();
      while ((await audio.next()).done !== true);
    }
  }

  #levelOf(voice: string): VoiceLevel {
    const known = this.#levels.get(voice);
    if (known !== undefined) return known;
    const oldest = this.#levels.keys().next();
    if (this.#levels.size >= MOST_VOICES && oldest.done !== true) this.#levels.delete(oldest.value);
    const level = new VoiceLevel();
    this.#levels.set(voice, level);
    return level;
  }
}

/** A whole sound at the level of the voices. */
export function levelled(pcm: Int16Array, rateHz: number): Int16Array {
  const level = new VoiceLevel();
  level.hearSamples(pcm, rateHz);
  const gainDb = level.gainDb(1);
  return gainDb === 0 ? pcm : amplify(pcm, gainDb);
}

function frameSamples(rateHz: number): number {
  return (FRAME_MS * rateHz) / 1000;
}

function decibels(power: number): number {
  return power === 0 ? SILENCE_DB : 10 * Math.log10(power / FULL_SCALE);
}
