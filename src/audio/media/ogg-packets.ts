import type { ByteSource } from './byte-source.ts';
import { MediaUnreadableError } from './errors.ts';
import { oggPages } from './ogg-pages.ts';

/** A packet that goes over several pages; speech has none near this. */
const maxPacketBytes = 256 * 1024;

export interface OggPacket {
  /** A view that holds until the next one is asked for. */
  readonly data: Uint8Array;
  /** Granule position at which the stream ends, on the packets of its last page. */
  readonly endGranule: bigint | undefined;
}

/** The first packet of a file, which says what it holds; empty when there is none. @throws MediaUnreadableError */
export function oggHead(source: ByteSource): Uint8Array {
  const first = oggPages(source).next();
  return first.done === true ? new Uint8Array(0) : Uint8Array.from(first.value.packets[0] ?? []);
}

/**
 * The packets of the first logical stream of a file, in order, put together where they go over pages.
 * @throws MediaUnreadableError as `oggPages` does, and for a packet that is too large
 */
export function* oggPackets(source: ByteSource): Generator<OggPacket> {
  let serial: number | undefined;
  let begun: Uint8Array[] = [];
  for (const page of oggPages(source)) {
    serial ??= page.serial;
    if (page.serial !== serial) continue;
    if (!page.continued) begun = [];
    const endGranule = page.last && page.granule >= 0n ? page.granule : undefined;
    for (const [index, part] of page.packets.entries()) {
      // What the page before left open.
      const whole = begun.length === 0 ? part : Buffer.concat([...begun, part]);
      if (whole.length > maxPacketBytes) throw new MediaUnreadableError('an Ogg packet is too large');
      begun = [];
      if (page.open && index === page.packets.length - 1) begun = [Uint8Array.from(whole)];
      else yield { data: whole, endGranule };
    }
  }
}
