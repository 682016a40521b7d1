/** What the encoder looks ahead at 48 kHz: 6.5 ms; players drop it (RFC 7845, section 5.1). */
export const OPUS_LEAD = 312;

/**
 * RFC 7845, section 5.1: version 1, no gain. One channel is mapping family 0; more are family 1, each a mono stream of its own.
 */
export function opusHead(channels: number, rateHz: number): Uint8Array {
  const head = Buffer.alloc(channels === 1 ? 19 : 21 + channels);
  head.write('OpusHead', 'latin1');
  head[8] = 1;
  head[9] = channels;
  head.writeUInt16LE(OPUS_LEAD, 10);
  head.writeUInt32LE(rateHz, 12);
  if (channels > 1) {
    head[18] = 1;
    // So many streams, none of them stereo, and which one each channel is.
    head[19] = channels;
    head.set(
      Array.from({ length: channels }, (_, channel) => channel),
      21,
    );
  }
  return head;
}

/** RFC 7845, section 5.2: who wrote it, and no comments. */
export function opusTags(): Uint8Array {
  const vendor = 'offhook';
  const tags = Buffer.alloc(8 + 4 + vendor.length + 4);
  tags.write('OpusTags', 'latin1');
  tags.writeUInt32LE(vendor.length, 8);
  tags.write(vendor, 12, 'latin1');
  return tags;
}
