/** Whether and how the bot leaves the call. */
export type Farewell =
  | { readonly stage: 'none' }
  | {
      /** Once what it is saying was heard; or after a last sentence, which nothing that the caller does changes. */
      readonly stage: 'after-reply' | 'last-words';
      readonly reason: string;
      /** In place of hanging up. */
      readonly transferTo: string | undefined;
      /** The bot stays with the caller while that agent is rung. */
      readonly warm?: true | undefined;
      /** What it leaves behind was played. */
      readonly heard: boolean;
      /** Hangs up soon, and then at the latest although the caller makes sounds; undefined before that. */
      readonly patientUntilMs: number | undefined;
    }
  /**
   * The carrier is asked to connect the caller to somebody else, since the bot has left. `asksDialog`: where that fails the dialog is asked
   * how the call goes on; else the caller hears the apology.
   */
  | { readonly stage: 'transferring'; readonly asksDialog: boolean }
  /** The carrier is asked for that by a supervisor: the caller is still heard. */
  | { readonly stage: 'connecting' };

/** What came of a transfer: `voicemail` answered in the agent's place; `dropped`: one side was lost before both were connected. */
export type TransferOutcome = 'answered' | 'busy' | 'no-answer' | 'declined' | 'voicemail' | 'dropped' | 'failed';

export interface TransferResult {
  readonly outcome: TransferOutcome;
  readonly to: string;
  /** The carrier's own code or word for it, or ours. */
  readonly cause?: string | undefined;
}
