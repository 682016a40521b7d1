/** Audio files that bots play in their calls. */
export interface Sounds {
  /**
   * The sound as mu-law at 8 kHz, as loud as the voices are, in parts of a second.
   * @param folder the bot's, which no file may be outside of
   * @param source name of a file there, or an https address
   * @throws SoundError, or the signal's reason
   */
  play(folder: string, source: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
}
