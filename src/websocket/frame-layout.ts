// RFC 6455, 5.2: of a frame's first byte the last fragment's bit and the kind, of its second the mask's bit and the length.
export const WHOLE_TEXT = 0x81;
export const WHOLE_BINARY = 0x82;
export const MASKED = 0x80;
/** Of the seven bits of a length, what says that it follows in as many. */
export const LENGTH_OF_16_BITS = 126;
export const LENGTH_OF_64_BITS = 127;
export const MASK_BYTES = 4;
