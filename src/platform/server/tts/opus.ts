import { setImmediate } from 'node:timers/promises';
import { bytesInMemory } from '../../../audio/byte-source.ts';
import { oggOpusBlocks } from '../../../audio/opus/ogg-opus.ts';
import { OpusEncoder, opusFrame } from '../../../audio/opus/opus-encoder.ts';
import { joinSamples } from '../../../audio/samples.ts';

const RATE_HZ = 24_000;
/** Packets of 20 ms coded before the event loop gets a turn. */
const PACKETS_A_TURN = 10;
const SERIAL = 0x0ff_400c;

/** The opus package has one memory for all its coders: two at once would overwrite each other. */
let lastTask: Promise<unknown> = Promise.resolve();

function oneAtATime<Value>(task: () => Promise<Value>): Promise<Value> {
  const run = lastTask.then(task);
  lastTask = run.catch(() => undefined);
  return run;
}

/** Encodes mono audio as Opus in Ogg (RFC 7845). @param pcm at 24,000 Hz */
export function encodeOggOpus(pcm: Int16Array, kbps = 24, complexity = 10): Promise<Uint8Array> {
  return oneAtATime(async () => {
    const settings = {
      rateHz: RATE_HZ,
      channels: 1,
      serial: SERIAL,
      kbpsPerChannel: kbps,
      application: 'voip',
      complexity,
    } as const;
    using encoder = new OpusEncoder(settings);
    const frame = opusFrame(RATE_HZ);
    const pages = [encoder.head()];
    for (let at = 0; at < pcm.length; at += frame) {
      if (at % (PACKETS_A_TURN * frame) === 0) await setImmediate();
      pages.push(encoder.frame(pcm.subarray(at, at + frame)));
    }
    return Buffer.concat([...pages, encoder.end()]);
  });
}

/**
 * Decodes Ogg Opus to mono samples at 24,000 Hz.
 * @param maxSamples decoding stops soon after this many
 * @throws MediaUnreadableError, MediaNeedsFfmpegError for more than two channels
 */
export function decodeOggOpus(file: Uint8Array, maxSamples: number): Promise<Int16Array> {
  return oneAtATime(async () => {
    const parts: Int16Array[] = [];
    let samples = 0;
    for (const { pcm } of oggOpusBlocks(bytesInMemory(file), RATE_HZ)) {
      if (parts.length % PACKETS_A_TURN === 0) await setImmediate();
      parts.push(pcm);
      samples += pcm.length;
      if (samples > maxSamples) break;
    }
    return joinSamples(parts);
  });
}
