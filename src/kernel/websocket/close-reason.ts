/** RFC 6455, section 5.5: a control frame carries at most 125 bytes, two of which are the close code. */
const maxReasonBytes = 123;

/** The longest prefix of the text that fits a close frame, cut between code points. A lone surrogate counts three bytes, as U+FFFD does. */
export function closeReason(text: string): string {
  let bytes = 0;
  let reason = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxReasonBytes) return reason;
    reason += character;
  }
  return reason;
}
