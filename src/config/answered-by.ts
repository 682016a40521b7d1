/** The kind of party that answers an outbound call. */
export const ANSWERED_BY = [
  'person',
  'mailbox',
  /** A mailbox that takes no message. */
  'mailbox-full',
  /** An assistant that asks who is calling and why, as phones have it. */
  'screening',
  /** A menu of keys. */
  'ivr',
  /** Music or a queue. */
  'hold',
  'fax',
  /** Another talking machine. */
  'bot',
  'silence',
] as const;
export type AnsweredBy = (typeof ANSWERED_BY)[number];
