import type { AnsweredBy } from '../../config/answered-by.ts';
import type { AudibleAction, DialogAction } from '../../dialog/port.ts';
import type { AnswerReading } from '../../language/index.ts';

/** One event of a conversation, in order; `--json` prints each as a line. */
export type ChatEvent =
  | {
      readonly type: 'call';
      readonly bot: string;
      readonly kind: string;
      readonly direction: 'inbound' | 'outbound';
      readonly from: string;
      readonly to: string;
      readonly language: string;
      /** ISO 8601, UTC. */
      readonly at: string;
    }
  /** The caller's turn is complete; secret values are hidden. */
  | { readonly type: 'caller'; readonly turn: number; readonly kind: 'spoken' | 'keyed' | 'no-input'; readonly text: string }
  /** The caller's words did not reach the bot: only keys are accepted (`text` is then empty), or the words are no turn ("well", "mm-hm"). */
  | { readonly type: 'unheard'; readonly because: 'only-keys' | 'no-turn'; readonly text: string }
  /** The value in the caller's answer, by the contract of the question. */
  | { readonly type: 'understood'; readonly answer: AnswerReading }
  /** A sentence of the bot, or one of its ready-made phrases. */
  | {
      readonly type: 'says';
      readonly text: string;
      readonly language: string;
      readonly voice: string;
      /** Covers a wait; not part of the answer. */
      readonly filler?: true;
    }
  | { readonly type: 'plays'; readonly source: string }
  | { readonly type: 'action'; readonly bot: string; readonly action: Exclude<DialogAction, AudibleAction> }
  /** The caller interrupted the bot, and heard only this of it. */
  | { readonly type: 'cut'; readonly said: string; readonly heard: string }
  | { readonly type: 'answered-by'; readonly by: AnsweredBy }
  /** `text`: what the caller said; empty where they pressed a key. */
  | { readonly type: 'opted-out'; readonly kind: 'opt-out' | 'wrong-number'; readonly text: string }
  /** The dialog had no answer. */
  | { readonly type: 'failure'; readonly message: string }
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'end';
      readonly reason: string;
      readonly variables: Readonly<Record<string, string>>;
      readonly notes: readonly string[];
    };
