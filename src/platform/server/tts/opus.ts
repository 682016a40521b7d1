import OpusScript from 'opusscript';
import { encodeAudio } from '../../../audio/codec.ts';
import { OPUS_LEAD, opusHead, opusTags } from '../../../audio/opus/opus-format.ts';
import { bytesInMemory } from '../../../audio/byte-source.ts';
import { oggOpusBlocks } from '../../../audio/opus/ogg-opus.ts';
import { setImmediate } from 'node:timers/promises';
import { joinSamples } from '../../../audio/samples.ts';
import { type OggPacket, OggWriter } from '../../../audio/ogg/ogg-writer.ts';

const RATE_HZ = 24_000;
const FRAME = RATE_HZ / 50;
/** Granules count at 48 kHz, whatever the rate (RFC 7845, section 4). */
const GRANULES = 48_000 / RATE_HZ;
/** 20 ms each: a second a page, and the most that is encoded before others have a turn. */
const PACKETS_A_PAGE = 50;
const TURN_EVERY = 10;
const SERIAL = 0x0ff_400c;

/** The package keeps one memory for all its coders, and two at once would write over each other: so one after another. */
let coder: Promise<unknown> = Promise.resolve();

function alone<Value>(task: () => Promise<Value>): Promise<Value> {
  const run = coder.then(task);
  coder = run.catch(() => undefined);
  return run;
}

/** Opus in Ogg (RFC 7845), mono. @param pcm at 24,000 Hz */
export function encodeOggOpus(pcm: Int16Array, kbps = 24): Promise<Uint8Array> {
  return alone(async () => {
    const opus = new OpusScript(RATE_HZ, 1, OpusScript.Application.VOIP);
    try {
      return await encoded(opus, pcm, kbps);
    } finally {
      opus.delete();
    }
  });
}

async function encoded(opus: OpusScript, pcm: Int16Array, kbps: number): Promise<Uint8Array> {
  opus.setBitrate(kbps * 1000);
  const ogg = new OggWriter(SERIAL);
  const pages = [
    ogg.page([{ data: opusHead(1, RATE_HZ), granule: 0 }], false),
    ogg.page([{ data: opusTags(), granule: 0 }], false),
  ];
  const endGranule = OPUS_LEAD + pcm.length * GRANULES;
  let held: OggPacket[] = [];
  const padded = Math.ceil(endGranule / GRANULES / FRAME);
  for (let index = 0; index < padded; index += 1) {
    if (index % TURN_EVERY === 0) await setImmediate();
    const frame = new Int16Array(FRAME);
    frame.set(pcm.subarray(index * FRAME, (index + 1) * FRAME));
    const data = opus.encode(Buffer.from(encodeAudio('pcm16', frame).buffer), FRAME);
    const last = index === padded - 1;
    // The last granule says where the sound ends within the last packet.
    held.push({ data, granule: last ? endGranule : (index + 1) * FRAME * GRANULES });
    if (held.length < PACKETS_A_PAGE && !last) continue;
    pages.push(ogg.page(held, last));
    held = [];
  }
  return Buffer.concat(pages);
}

/**
 * The samples of an Ogg Opus file at 24,000 Hz, mixed to mono by the decoder.
 * @param maxSamples no more than about these are decoded
 * @throws MediaUnreadableError, MediaNeedsFfmpegError for more than two channels
 */
export function decodeOggOpus(file: Uint8Array, maxSamples: number): Promise<Int16Array> {
  return alone(async () => {
    const parts: Int16Array[] = [];
    let samples = 0;
    for (const { pcm } of oggOpusBlocks(bytesInMemory(file), RATE_HZ)) {
      if (parts.length % TURN_EVERY === 0) await setImmediate();
      parts.push(pcm);
      samples += pcm.length;
      if (samples > maxSamples) break;
    }
    return joinSamples(parts);
  });
}
