import { PERSONAL_KINDS } from '../analysis/profile.ts';
import { Redactor } from '../analysis/redaction/redact.ts';

const redactor = new Redactor({ keywords: [], personal: PERSONAL_KINDS });

/** BullMQ's own reason; it quotes nothing. */
const STALLED = 'job stalled more than allowable limit';
const CODED = /^(OFFHOOK_[A-Z\d_]+): ([^]*)$/u;
/** Errors that repeat behind a colon what somebody else's server said, which may be a caller's words. */
const QUOTES_OTHERS = /^OFFHOOK_(?:ANALYSIS_MODEL|SPEECH_[A-Z]+)$/u;
/** An apostrophe inside a word is none. */
const OPENING_QUOTE = /["`“”«»]|(?<![\p{L}\p{N}])'/u;
const TO_THE_LAST_QUOTE = /^[^]*["`“”«»']/u;
const SYSTEM_CODE =
  /\bE(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE|(?:HOST|NET)UNREACH|NOSPC|NOENT|ACCES|PERM|MFILE|ROFS)\b/u;
const WITHOUT_CODE = 'an error without a code, whose text stands in the log';

/**
 * Why a job failed, as a page may show it: the code, and as much of the message as is ours. Numbers, addresses and the like
 * are hidden as analyses hide them, and so is whatever stands in quotes or is as long as a token.
 * @param reason as the queue keeps it: `CODE: message` of an OffhookError, any other error's text as it stands
 */
export function shownReason(reason: string): string {
  if (reason === STALLED) return reason;
  const [, code, message] = CODED.exec(reason) ?? [];
  if (code === undefined || message === undefined) {
    const system = SYSTEM_CODE.exec(reason)?.[0];
    return system === undefined ? WITHOUT_CODE : `${system}: ${WITHOUT_CODE}`;
  }
  const ours = QUOTES_OTHERS.test(code) ? (message.split(': ', 1)[0] ?? '') : message;
  return `${code}: ${redactor.text(withoutQuotes(ours)).replaceAll(/\S{24,}/gu, '…')}`;
}

/** Quotes may stand in each other and need not be closed, so all from the first mark to the last goes. */
function withoutQuotes(text: string): string {
  const first = OPENING_QUOTE.exec(text)?.index;
  if (first === undefined) return text;
  const [quoted = ''] = TO_THE_LAST_QUOTE.exec(text.slice(first + 1)) ?? [];
  return `${text.slice(0, first)}…${quoted === '' ? '' : text.slice(first + 1 + quoted.length)}`;
}
