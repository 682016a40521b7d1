/** Whether and how the bot leaves the call. */
export type Farewell =
  | { readonly stage: 'none' }
  | {
      /** After the current reply; or after a last sentence, which the caller cannot change. */
      readonly stage: 'after-reply' | 'last-words';
      readonly reason: string;
      /** Transfers instead of hanging up. */
      readonly transferTo: string | undefined;
      /** The bot stays with the caller while that agent is rung. */
      readonly warm?: true | undefined;
      /** Its last words were played. */
      readonly heard: boolean;
      /** Hang-up deadline that holds even while the caller makes sounds; undefined before the goodbye was heard. */
      readonly patientUntilMs: number | undefined;
    }
  /**
   * The carrier is asked for a transfer, since the bot has left. `asksDialog`: after a failure the dialog continues the call; otherwise the caller
   * hears the apology.
   */
  | { readonly stage: 'transferring'; readonly asksDialog: boolean }
  /** A supervisor asked for the transfer: the caller is still heard. */
  | { readonly stage: 'connecting' };

/** Result of a transfer. `voicemail`: a mailbox answered; `dropped`: one side was lost before both were connected. */
export type TransferOutcome = 'answered' | 'busy' | 'no-answer' | 'declined' | 'voicemail' | 'dropped' | 'failed';

export interface TransferResult {
  readonly outcome: TransferOutcome;
  readonly to: string;
  /** The carrier's own code or word, or ours. */
  readonly cause?: string | undefined;
}
