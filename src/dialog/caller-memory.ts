/** Whose earlier calls are recalled, and by whose consent. */
export interface RecalledCaller {
  readonly tenantId: string;
  readonly botName: string;
  /** The person's number as the carrier gave it. */
  readonly number: string;
  /** The variable that such calls have set to `yes` where the person agreed to be remembered. */
  readonly consent: string;
  /** Latest calls that are recalled, at most. */
  readonly calls: number;
}

/**
 * What is known of a person from earlier calls with the bot, newest first; empty without a consent. Rejects while the store is away.
 * What it reads is the calls' own: it is erased, and expires, with them.
 */
export type RecallCaller = (asked: RecalledCaller) => Promise<readonly string[]>;
